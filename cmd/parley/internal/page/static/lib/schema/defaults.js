// The value that a form begins with.

import { Document, list } from "./document.js";
import { flat } from "./merge.js";
import { shape } from "./shape.js";
import { fits } from "./validate.js";
import { has, isObject, member, put } from "./value.js";

const deepest = 12;
const mostFields = 2000;

/**
 * defaults returns the value that a form of a schema begins with: what the schema gives as
 * defaults, what it fixes, and the objects that are required. It is undefined if that is nothing.
 */
export function defaults(schema) {
  return initial(new Document(schema), schema, true);
}

/**
 * initial is defaults for a part of a document. A value that somebody has asked for is
 * one that can be edited, if it is an object or a list; others are left out.
 */
export function initial(document, schema, wanted) {
  const maker = { document, left: mostFields };
  return make(maker, schema, wanted, 0);
}

function make(maker, schema, wanted, depth) {
  if (depth > deepest || --maker.left < 0) return undefined;
  const whole = flat(maker.document, schema, undefined, (condition, v) => fits(maker.document, condition, v));
  if (has(whole, "default")) return whole.default;
  if (!wanted) return undefined;
  if (has(whole, "const")) return whole.const;
  const type = [member(whole, "type")].flat();
  if (type[0] === "object" || isObject(member(whole, "properties"))) return object(maker, whole, depth);
  if (type[0] === "array") return array(maker, whole, depth);
  if (type.length === 1 && type[0] === "null") return null;
  return undefined;
}

function object(maker, schema, depth) {
  const made = {};
  const properties = member(schema, "properties");
  const required = new Set(list(schema, "required"));
  for (const name of isObject(properties) ? Object.keys(properties) : []) {
    const value = make(maker, properties[name], required.has(name), depth + 1);
    if (value !== undefined) put(made, name, value);
  }
  return made;
}

/** array makes as many items as there have to be, if it is known how each begins. */
function array(maker, schema, depth) {
  const made = [];
  const items = list(schema, "prefixItems");
  const least = typeof member(schema, "minItems") === "number" ? schema.minItems : 0;
  for (let i = 0; i < Math.min(least, 20); i++) {
    const value = make(maker, items[i] ?? (isObject(schema.items) ? schema.items : true), true, depth + 1);
    if (value === undefined) break;
    made.push(value);
  }
  return made;
}

/** filler returns a value for an item that was just added, which cannot be left out. */
export function filler(document, schema, depth = 0) {
  const begun = initial(document, schema, true);
  if (begun !== undefined) return begun;
  const made = shape(document, schema);
  switch (depth > deepest ? "json" : made.kind) {
    case "string":
      return "";
    case "number":
      return member(made.schema, "minimum") ?? 0;
    case "boolean":
      return false;
    case "enum":
      return made.options[0].value;
    case "flags":
    case "array":
      return [];
    case "object":
      return {};
    case "choice":
      return filler(document, made.alternatives[0].schema, depth + 1);
  }
  return null;
}
