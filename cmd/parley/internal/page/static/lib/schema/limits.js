// The keywords that limit one value, without a look at other schemas.

import { compare, isMultiple } from "./decimal.js";
import { formatOf } from "./formats.js";
import { matcher } from "./pattern.js";
import { canonical, has, kindOf, member, numberText, pointer } from "./value.js";

const patterns = new Map();

/** matches says whether a text matches a pattern, or that this is not known. */
export function matches(pattern, text) {
  if (!patterns.has(pattern)) {
    if (patterns.size > 500) patterns.clear();
    patterns.set(pattern, typeof pattern === "string" ? matcher(pattern) : undefined);
  }
  return patterns.get(pattern)?.(text);
}

/** plural writes a number of things. */
export const plural = (n, word) => `${n} ${word}${String(n) === "1" ? "" : "s"}`;

/** text checks a string. */
export function text(schema, value, at, out) {
  const length = () => Array.from(value).length;
  const least = bound(schema, "minLength");
  const most = bound(schema, "maxLength");
  if (least !== undefined && value.length < 2 * least && length() < least) out.add(at, `must have at least ${plural(least, "character")}, and has ${length()}`);
  if (most !== undefined && value.length > most && length() > most) out.add(at, `must have at most ${plural(most, "character")}, and has ${length()}`);
  if (has(schema, "pattern") && matches(schema.pattern, value) === false) out.add(at, `must match the pattern ${schema.pattern}`);
  const format = formatOf(member(schema, "format"));
  if (format && !format.holds(value)) out.add(at, `must be ${format.is}, such as ${format.example}`);
}

const bound = (schema, word) => (typeof member(schema, word) === "number" ? schema[word] : undefined);

/** number checks a number, given as its text. */
export function number(schema, value, at, out) {
  const limit = (word, broken, says) => {
    const than = member(schema, word);
    if (kindOf(than) === "number" && broken(compare(value, numberText(than)))) out.add(at, `must be ${says} ${numberText(than)}`);
  };
  // Up to draft-04, these are flags of the limits.
  const open = (word) => schema[word] === true;
  limit("minimum", (c) => (open("exclusiveMinimum") ? c <= 0 : c < 0), open("exclusiveMinimum") ? "more than" : "at least");
  limit("maximum", (c) => (open("exclusiveMaximum") ? c >= 0 : c > 0), open("exclusiveMaximum") ? "less than" : "at most");
  limit("exclusiveMinimum", (c) => c <= 0, "more than");
  limit("exclusiveMaximum", (c) => c >= 0, "less than");
  const step = member(schema, "multipleOf");
  if (kindOf(step) === "number" && !isMultiple(value, numberText(step))) out.add(at, `must be a multiple of ${numberText(step)}`);
}

/** size checks how many items or members there are. */
export function size(schema, count, word, noun, at, out) {
  const least = bound(schema, `min${word}`);
  const most = bound(schema, `max${word}`);
  if (least !== undefined && count < least) out.add(at, `must have at least ${plural(least, noun)}, and has ${count}`);
  if (most !== undefined && count > most) out.add(at, `must have at most ${plural(most, noun)}, and has ${count}`);
}

/** unique checks that no two items are the same. */
export function unique(value, at, out) {
  const first = new Map();
  value.forEach((item, i) => {
    const text = canonical(item);
    if (first.has(text)) out.add(pointer(at, i), `is the same as item ${first.get(text) + 1}`);
    else first.set(text, i);
  });
}

