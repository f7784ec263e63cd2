// What the formats of strings mean. A format that is not here is not judged.

const date = /^(\d{4})-(\d\d)-(\d\d)$/;
const time = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([zZ]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const hostname = /^(?=.{1,253}\.?$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*\.?$/i;

function isDate(text) {
  const [, year, month, day] = date.exec(text) ?? [];
  if (!year || month === "00" || month > "12") return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return day >= 1 && day <= days;
}

const ipv4 = (text) => /^(\d{1,3})(\.\d{1,3}){3}$/.test(text) && text.split(".").every((part) => String(Number(part)) === part && part <= 255);

function ipv6(text) {
  try {
    return /^[0-9a-fA-F:.]+$/.test(text) && new URL(`http://[${text}]/`).hostname !== "";
  } catch {
    return false;
  }
}

function json(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const uri = (text) => /^[a-z][a-z0-9+.-]*:[^\s"<>\\^`{}|]*$/i.test(text);

/** formats has the check, what a value should be, and an example of each. */
export const formats = {
  date: { holds: isDate, is: "a date", example: "2026-07-28" },
  time: { holds: (text) => time.test(text), is: "a time with its zone", example: "09:30:00Z" },
  "date-time": { holds: (text) => /[tT ]/.test(text[10] ?? "") && isDate(text.slice(0, 10)) && time.test(text.slice(11)), is: "a date and time with its zone", example: "2026-07-28T09:30:00Z" },
  duration: { holds: (text) => /^P(?!$)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?!$)(\d+H)?(\d+M)?(\d+S)?)?)$/.test(text), is: "a duration", example: "P1DT12H" },
  email: { holds: (text) => /^[^\s@]+@[^\s@]+$/.test(text) && text.length <= 320, is: "an email address", example: "ada@example.com" },
  hostname: { holds: (text) => hostname.test(text), is: "a host name", example: "example.com" },
  ipv4: { holds: ipv4, is: "an IPv4 address", example: "192.0.2.1" },
  ipv6: { holds: ipv6, is: "an IPv6 address", example: "2001:db8::1" },
  uri: { holds: uri, is: "a URI", example: "https://example.com/" },
  "uri-reference": { holds: (text) => /^[^\s"<>\\^`{}|]*$/.test(text), is: "a URI or a relative reference", example: "/path" },
  uuid: { holds: (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text), is: "a UUID", example: "123e4567-e89b-12d3-a456-426614174000" },
  "json-pointer": { holds: (text) => /^(\/([^~/]|~[01])*)*$/.test(text), is: "a JSON pointer", example: "/items/0" },
  json: { holds: json, is: "JSON", example: "{}" },
};

/** formatOf returns what is known of a format, or undefined. */
export const formatOf = (name) => (typeof name === "string" && Object.hasOwn(formats, name) ? formats[name] : undefined);
