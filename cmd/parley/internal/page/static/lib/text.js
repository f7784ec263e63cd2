// Whatever a server says is shown as it is, including what is not seen: characters that
// turn text around, have no width, or give orders to terminals get a mark in their place.

import { stringify } from "./json.js";

const hidden = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|\p{M}{9,}/u;
const flag = /\u{1F3F4}[\u{E0030}-\u{E007A}]{1,6}\u{E007F}/u; // of a region: tags that are meant to be there
const tags = /[\u{E0000}-\u{E007F}]+/u;
const found = new RegExp(`${flag.source}|${tags.source}|${hidden.source}`, "gu");

// Beyond so many marks nobody reads them one by one, and a browser has enough of elements.
const mostMarks = 500;

const names = new Map(
  Object.entries({
    "\u00AD": "soft hyphen",
    "\u061C": "Arabic letter mark",
    "\u180E": "Mongolian vowel separator",
    "\u200B": "zero width space",
    "\u200C": "zero width non-joiner",
    "\u200D": "zero width joiner",
    "\u200E": "left-to-right mark",
    "\u200F": "right-to-left mark",
    "\u2028": "line separator",
    "\u2029": "paragraph separator",
    "\u202A": "left-to-right embedding",
    "\u202B": "right-to-left embedding",
    "\u202C": "end of embedding or override",
    "\u202D": "left-to-right override",
    "\u202E": "right-to-left override",
    "\u2060": "word joiner",
    "\u2066": "left-to-right isolate",
    "\u2067": "right-to-left isolate",
    "\u2068": "first strong isolate",
    "\u2069": "end of isolate",
    "\u2800": "blank Braille pattern",
    "\u3164": "Hangul filler",
    "\uFEFF": "byte order mark",
    "\u0000": "null",
    "\t": "tab",
    "\n": "line break",
    "\r": "carriage return",
    "\u0007": "bell",
    "\u0008": "backspace",
    "\u001B": "escape, which begins what terminals obey",
    "\u007F": "delete",
    "\u009B": "control sequence introducer, which terminals obey",
  }),
);

/**
 * asText returns what is shown for a value that ought to be a string and, coming from a
 * server, may be anything.
 * @param {unknown} value
 * @returns {string}
 */
export function asText(value) {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  try {
    return typeof value === "object" ? stringify(value) : String(value);
  } catch {
    return "(a value that has no text)";
  }
}

/**
 * segments splits a text into pieces: {text} as it is, and {mark, about} for what would
 * not be seen. With lines, line breaks and tabs are text.
 * @param {unknown} value
 * @param {{lines?: boolean}} [options]
 * @returns {Array<{text?: string, mark?: string, about?: string}>}
 */
export function segments(value, { lines = false } = {}) {
  const text = asText(value);
  const pieces = [];
  let plain = 0;
  let marks = 0;
  const upTo = (end) => end > plain && pieces.push({ text: text.slice(plain, end) });
  for (const match of text.matchAll(found)) {
    const piece = markOf(match[0], text, match.index, lines);
    if (!piece) continue;
    if (++marks > mostMarks) {
      pieces.push({ text: text.slice(plain).replace(found, (what, at, all) => markOf(what, all, at, lines)?.mark ?? what) });
      return pieces;
    }
    upTo(match.index);
    plain = match.index + match[0].length;
    pieces.push(piece);
  }
  upTo(text.length);
  return pieces;
}

function markOf(what, text, at, lines) {
  const code = what.codePointAt(0);
  if (code === 0x1f3f4 || isMeant(what, text, at)) return undefined;
  if (lines && (what === "\n" || what === "\t" || (what === "\r" && text[at + 1] === "\n"))) return undefined;
  if (code >= 0xe0000 && code <= 0xe007f) {
    const said = [...what].map((tag) => tag.codePointAt(0) - 0xe0000).filter((c) => c >= 0x20 && c < 0x7f);
    return { mark: `⟨tags: ${String.fromCharCode(...said.slice(0, 200))}⟩`, about: "tag characters: nobody sees them, and models read them" };
  }
  if (/^\p{M}/u.test(what) && what.length > 8) {
    return { mark: `${what.slice(0, 4)}⟨${[...what].length - 4} more marks⟩`, about: "combining marks, more than any script stacks" };
  }
  return { mark: `⟨${point(code)}⟩`, about: names.get(what) ?? kindOf(what) };
}

const point = (code) => `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;

function kindOf(character) {
  if (/\p{Co}/u.test(character)) return "a private character: what it means is not known";
  if (/\p{Cs}/u.test(character)) return "half of a character";
  if (/\p{Cc}/u.test(character)) return "a control character";
  return "a character that is not seen";
}

// Joiners and selectors are part of many scripts and of emoji.
function isMeant(what, text, at) {
  const joins = what === "\u200C" || what === "\u200D";
  if (!joins && !/^[\uFE00-\uFE0F]$/u.test(what)) return false;
  const before = at === 0 ? "" : text.slice(Math.max(0, at - 2), at).match(/[\uD800-\uDBFF][\uDC00-\uDFFF]$|.$/su)?.[0];
  if (!before || (hidden.test(before) && !/[\uFE00-\uFE0F]/u.test(before))) return false;
  if (!joins) return (before > "\u007F" && !/[\uFE00-\uFE0F]/u.test(before)) || /[0-9#*]/.test(before);
  const after = String.fromCodePoint(text.codePointAt(at + 1) ?? 0);
  return before > "\u007F" && after > "\u007F" && !hidden.test(after);
}

/**
 * label returns a name or a title on one line, with marks for what would not be seen, and
 * not longer than most characters. What is cut off is said.
 * @param {unknown} value
 * @param {number} [most]
 * @returns {string}
 */
export function label(value, most = 200) {
  const whole = asText(value);
  const text = whole.length > most * 2 ? whole.slice(0, most * 2) : whole;
  const characters = [...segments(text).map(({ text, mark }) => text ?? mark).join("")];
  if (characters.length <= most && text === whole) return characters.join("");
  return `${characters.slice(0, most - 1).join("")}…`;
}

/**
 * visible returns a text of several lines, with marks for what would not be seen, and not longer than
 * most characters.
 * @param {unknown} value
 * @param {number} [most]
 * @returns {string}
 */
export function visible(value, most = 4000) {
  const whole = asText(value);
  const text = segments(whole.slice(0, most), { lines: true }).map(({ text, mark }) => text ?? mark).join("");
  return whole.length > most ? `${text}…` : text;
}

/** hasHidden reports whether label or a marked text would show a mark for something. */
export function hasHidden(value) {
  return segments(value, { lines: true }).some(({ mark }) => mark !== undefined);
}
