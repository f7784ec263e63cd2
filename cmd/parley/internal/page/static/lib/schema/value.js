// JSON values as the forms handle them: never changed in place, and with members of any
// name, "__proto__" among them. Numbers that JavaScript cannot hold exactly are objects
// of lib/json.js; everything here sees them as numbers.

import { stringify } from "../json.js";
import { canonicalNumber } from "./decimal.js";

const plain = (v) => [Object.prototype, null].includes(Object.getPrototypeOf(v));

/**
 * kindOf returns the JSON type of a value, or "absent" for undefined.
 * @param {unknown} v
 * @returns {"absent"|"null"|"boolean"|"number"|"string"|"array"|"object"}
 */
export function kindOf(v) {
  if (v === undefined) return "absent";
  if (v === null) return "null";
  if (Array.isArray(v)) return "array";
  if (typeof v === "bigint") return "number";
  if (typeof v !== "object") return typeof v;
  return plain(v) ? "object" : "number";
}

/** isObject says whether a value is a JSON object. */
export const isObject = (v) => kindOf(v) === "object";

/** has says whether an object has a member of its own. */
export const has = (object, name) => isObject(object) && Object.hasOwn(object, name);

/** member returns a member of an object, or undefined: never what objects inherit. */
export const member = (object, name) => (has(object, name) ? object[name] : undefined);

/** numberText returns a number as JSON writes it. */
export const numberText = (v) => stringify(v);

/** put sets a member of an object that is being made. */
export function put(object, name, value) {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  return object;
}

/** copy returns an object with the same members in the same order. */
export function copy(object) {
  const made = {};
  for (const name of Object.keys(object)) put(made, name, object[name]);
  return made;
}

/** withMember returns the object with one member set, or without it if the value is undefined. */
export function withMember(object, name, value) {
  const made = isObject(object) ? copy(object) : {};
  if (value === undefined) delete made[name];
  else put(made, name, value);
  return made;
}

/** renamed returns the object with one member under another name, in its place. */
export function renamed(object, from, to) {
  const made = {};
  for (const name of Object.keys(object)) put(made, name === from ? to : name, object[name]);
  return made;
}

/** withItem returns the array with one item set, or without it if the value is undefined. */
export function withItem(array, index, value) {
  const made = Array.isArray(array) ? [...array] : [];
  if (value === undefined) made.splice(index, 1);
  else made[index] = value;
  return made;
}

/** moved returns the array with one item in another place. */
export function moved(array, from, to) {
  const made = [...array];
  made.splice(to, 0, ...made.splice(from, 1));
  return made;
}

/** pointer returns the JSON pointer of a child. */
export const pointer = (parent, name) => `${parent}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** steps returns the names that a JSON pointer goes through. */
export const steps = (pointer) =>
  pointer === "" ? [] : pointer.slice(1).split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));

/** at returns what a JSON pointer points to, or undefined. */
export function at(value, pointer) {
  for (const step of steps(pointer)) {
    if (Array.isArray(value)) value = /^(0|[1-9]\d*)$/.test(step) ? value[Number(step)] : undefined;
    else value = member(value, step);
  }
  return value;
}

const deepest = 500;

/**
 * canonical returns a text that is the same for equal values: members in order, numbers
 * by their value. Beyond a depth that no real value has, all are alike.
 */
export function canonical(v, depth = 0) {
  if (depth > deepest) return '"…"';
  switch (kindOf(v)) {
    case "number":
      return canonicalNumber(numberText(v));
    case "array":
      return `[${v.map((item) => canonical(item, depth + 1)).join(",")}]`;
    case "object":
      return `{${Object.keys(v).sort().map((name) => `${JSON.stringify(name)}:${canonical(v[name], depth + 1)}`).join(",")}}`;
  }
  return JSON.stringify(v) ?? "";
}

/** equal says whether two JSON values are equal. */
export const equal = (a, b) => a === b || canonical(a) === canonical(b);
