// One schema made of several that all hold, to make a field of. What cannot be merged is
// left to the check, which looks at the schema itself.

import { list } from "./document.js";
import { compare } from "./decimal.js";
import { copy, equal, has, isObject, kindOf, member, numberText, put } from "./value.js";

const both = (a, b) => (a === true || equal(a, b) ? b : b === true ? a : { allOf: [a, b] });

const objectOf = (combine) => (a, b) => {
  if (!isObject(a) || !isObject(b)) return b;
  const made = copy(a);
  for (const name of Object.keys(b)) put(made, name, has(made, name) ? combine(made[name], b[name]) : b[name]);
  return made;
};

const stricter = (sign) => (a, b) => {
  if (kindOf(a) !== "number" || kindOf(b) !== "number") return b;
  return compare(numberText(a), numberText(b)) * sign > 0 ? a : b;
};

const union = (a, b) => (Array.isArray(a) && Array.isArray(b) ? [...new Set([...a, ...b])] : b);
const common = (a, b) => (Array.isArray(a) && Array.isArray(b) ? a.filter((x) => b.some((y) => equal(x, y))) : b);
const tuples = (a, b) =>
  Array.isArray(a) && Array.isArray(b) ? Array.from({ length: Math.max(a.length, b.length) }, (_, i) => both(a[i] ?? true, b[i] ?? true)) : b;

/** typesOf returns the types that a schema allows, or undefined if it does not say. */
export function typesOf(schema) {
  const type = member(schema, "type");
  return type === undefined ? undefined : [type].flat().filter((t) => typeof t === "string");
}

function types(a, b) {
  const [x, y] = [[a].flat(), [b].flat()];
  const shared = x.filter((t) => y.includes(t) || (t === "integer" && y.includes("number")));
  if (x.includes("number") && y.includes("integer")) shared.push("integer");
  return [...new Set(shared)];
}

const rules = {
  properties: objectOf(both),
  patternProperties: objectOf(both),
  required: union,
  type: types,
  enum: common,
  prefixItems: tuples,
  items: (a, b) => (Array.isArray(a) || Array.isArray(b) ? tuples(a, b) : both(a, b)),
  additionalItems: both,
  additionalProperties: both,
  minimum: stricter(1),
  exclusiveMinimum: stricter(1),
  minLength: stricter(1),
  minItems: stricter(1),
  minProperties: stricter(1),
  maximum: stricter(-1),
  exclusiveMaximum: stricter(-1),
  maxLength: stricter(-1),
  maxItems: stricter(-1),
  maxProperties: stricter(-1),
  uniqueItems: (a, b) => a === true || b === true,
};

const spent = new Set(["$ref", "$dynamicRef", "$recursiveRef", "allOf", "if", "then", "else", "dependentSchemas", "dependencies", "$defs", "definitions"]);

/** merged returns one schema for several that all hold; of two titles, the later stands. */
export function merged(parts) {
  const made = {};
  for (const part of parts) {
    for (const word of Object.keys(part)) {
      if (spent.has(word)) continue;
      const rule = has(made, word) && Object.hasOwn(rules, word) ? rules[word] : undefined;
      put(made, word, rule ? rule(made[word], part[word]) : part[word]);
    }
  }
  return made;
}

const mostRounds = 8;

/**
 * flat returns a schema without references and conditions, for the value that the field
 * has now.
 * @param {import("./document.js").Document} document
 * @param {(schema: unknown, value: unknown) => boolean} fits says which conditions hold
 */
export function flat(document, schema, value, fits) {
  if (typeof schema === "boolean") return schema ? {} : { not: {} };
  const { parts, lost } = document.follow(schema);
  for (let i = 0, rounds = 0; i < parts.length && rounds < mostRounds; i++) {
    for (const then of conditions(parts[i], value, fits)) {
      const more = document.follow(then);
      parts.unshift(...more.parts);
      i += more.parts.length;
      rounds++;
    }
  }
  const made = merged(parts);
  if (lost !== undefined) put(made, "$lost", lost);
  return made;
}

/** conditions returns the schemas that hold because of what the value is. */
function conditions(part, value, fits) {
  const found = [];
  if (value !== undefined && has(part, "if")) {
    const branch = member(part, fits(part.if, value) ? "then" : "else");
    if (branch !== undefined) found.push(branch);
  }
  for (const word of ["dependentSchemas", "dependencies"]) {
    const all = member(part, word);
    if (!isObject(all) || !isObject(value)) continue;
    for (const name of Object.keys(all)) if (has(value, name)) found.push(Array.isArray(all[name]) ? { required: all[name] } : all[name]);
  }
  const needs = member(part, "dependentRequired");
  for (const name of isObject(needs) && isObject(value) ? Object.keys(needs) : []) {
    if (has(value, name)) found.push({ required: list(needs, name) });
  }
  return found;
}
