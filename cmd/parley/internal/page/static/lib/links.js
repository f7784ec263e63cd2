// Where a server's link may lead.

/**
 * linkOf says where a link goes: {url, host} if a person may follow it, and else {why}.
 * Only http and https are followed; a link with a user name is one that pretends, and one
 * to this page is no business of a server's.
 * @param {unknown} href
 * @param {string} [own] the origin of this page
 * @returns {{url?: string, host?: string, why?: string}}
 */
export function linkOf(href, own = globalThis.location?.origin) {
  if (typeof href !== "string") return { why: "it is not a text" };
  if (/[\s\p{Cc}\p{Cf}]/u.test(href)) return { why: "it has characters that an address does not have" };
  let url;
  try {
    url = new URL(href);
  } catch {
    return { why: "it is not a complete address" };
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return { why: `only http and https are followed, not ${url.protocol.slice(0, 40)}` };
  if (url.username !== "" || url.password !== "") return { why: "it has a user name, which makes another host look like the one it goes to" };
  if (url.origin === own) return { why: "it leads to this page" };
  return { url: url.href, host: url.host };
}

const kinds = { image: /^image\/[a-z0-9][a-z0-9.+-]{0,60}$/, audio: /^audio\/[a-z0-9][a-z0-9.+-]{0,60}$/ };

/**
 * dataOf returns the data: address of an image or a sound, or why there is none.
 * @param {"image"|"audio"} kind
 * @param {unknown} mimeType
 * @param {unknown} data base64
 * @returns {{url?: string, bytes?: number, why?: string}}
 */
export function dataOf(kind, mimeType, data) {
  const type = typeof mimeType === "string" ? mimeType.split(";")[0].trim().toLowerCase() : "";
  if (!kinds[kind].test(type)) return { why: `its type is not that of ${kind === "image" ? "an image" : "a sound"}` };
  if (typeof data !== "string" || data === "" || !isBase64(data)) return { why: "its data is not base64" };
  return { url: `data:${type};base64,${data}`, bytes: bytesOf(data) };
}

const alphabet = /^[A-Za-z0-9+/]*={0,2}$/;

/** isBase64 reports whether a text is base64 as the protocol has it, on one line. */
export const isBase64 = (data) => data.length % 4 === 0 && alphabet.test(data);

/** bytesOf returns how many bytes a text in base64 stands for. */
export const bytesOf = (data) => (data.length / 4) * 3 - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0);
