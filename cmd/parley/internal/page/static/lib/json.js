// JSON whose numbers keep every digit: 12345678901234567890, 1.0 and 1e400 stay as they are.

/** Exact is a number that JavaScript would write in another way than it was written. */
export class Exact {
  /** @param {string} source the number as JSON has it */
  constructor(source) {
    this.source = source;
  }
  toString() {
    return this.source;
  }
  valueOf() {
    return Number(this.source);
  }
}

/** isNumber says whether a value of parse is a number. */
export const isNumber = (value) => typeof value === "number" || value instanceof Exact;

/** numberOf returns a value that is a number, or a text of one, as a number, and NaN for any other. */
export const numberOf = (value) => (isNumber(value) || typeof value === "string" ? Number(value) : NaN);

// Texts that begin with this stand for exact numbers on their way through JSON.parse; nobody
// who writes JSON can know it.
const mark = `\u0000${Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("-")}:`;
const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const maybeOdd = /[\d][.eE]|-0|\d{16}/;

/** exact returns text with its odd numbers as marked strings. Strings are skipped. */
function exact(text) {
  const parts = [];
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 34) {
      i = endOfString(text, i);
    } else if (c === 45 || (c >= 48 && c <= 57)) {
      number.lastIndex = i;
      const source = number.exec(text)?.[0];
      if (!source) continue;
      if (String(Number(source)) !== source) {
        parts.push(text.slice(from, i), JSON.stringify(mark + source));
        from = i + source.length;
      }
      i += source.length - 1;
    }
  }
  parts.push(text.slice(from));
  return parts.join("");
}

function endOfString(text, begin) {
  for (let end = text.indexOf('"', begin + 1); ; end = text.indexOf('"', end + 1)) {
    if (end < 0) return text.length;
    let slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return end;
  }
}

const unmark = (_, value) => (typeof value === "string" && value.startsWith(mark) ? new Exact(value.slice(mark.length)) : value);

/**
 * parse reads JSON. Numbers that would lose digits are Exact.
 * @param {string} text
 * @throws {SyntaxError} if text is not JSON
 */
export function parse(text) {
  if (!maybeOdd.test(text)) return JSON.parse(text);
  JSON.parse(text); // errors speak of the text as it is
  return JSON.parse(exact(text), unmark);
}

/**
 * stringify writes JSON, exact numbers as they were read.
 * @param {unknown} value
 * @param {number} [indent]
 * @returns {string} "" for undefined
 */
export function stringify(value, indent) {
  let marked = false;
  const text = JSON.stringify(
    value,
    (_, v) => {
      if (!(v instanceof Exact)) return v;
      marked = true;
      return mark + v.source;
    },
    indent,
  );
  if (!marked) return text ?? "";
  const escaped = JSON.stringify(mark).slice(0, -1);
  return text.split(escaped).map((part, i) => (i === 0 ? part : part.replace('"', ""))).join("");
}
