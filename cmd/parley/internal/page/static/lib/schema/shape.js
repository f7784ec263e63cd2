// Which field shows which schema.

import { list } from "./document.js";
import { flat, typesOf } from "./merge.js";
import { fits } from "./validate.js";
import { equal, has, isObject, kindOf, member, put } from "./value.js";

/**
 * Shape is what a field needs to know of its schema.
 * @typedef {object} Shape
 * @property {"string"|"number"|"boolean"|"null"|"enum"|"flags"|"array"|"object"|"choice"|"json"} kind
 * @property {object} schema with everything merged that holds for the value
 * @property {boolean} [nullable] null is allowed besides
 * @property {boolean} [whole] a number has to be an integer
 * @property {{value: unknown, label: string, note?: string}[]} [options]
 * @property {{schema: unknown, label: string}[]} [alternatives]
 * @property {string} [reason] why there is only JSON
 */

const deepest = 32;

/** shape returns the shape of a schema for the value that the field has. @returns {Shape} */
export function shape(document, schema, value, depth = 0) {
  if (depth > deepest) return { kind: "json", schema: {}, reason: "Its schema refers to itself without end." };
  const whole = flat(document, schema, value, (condition, v) => fits(document, condition, v));
  if (has(whole, "$lost")) return { kind: "json", schema: whole, reason: `Its schema refers to ${JSON.stringify(short(whole.$lost))}, which is not in this schema; nothing is fetched.` };
  if (isObject(member(whole, "not")) && Object.keys(whole.not).length === 0) return { kind: "json", schema: whole, reason: "The schema allows no value here." };
  return constants(document, whole) ?? branches(document, whole, value, depth) ?? byType(document, whole);
}

const short = (text) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** labelOf says what a value is called. */
const labelOf = (value) => (typeof value === "string" && value !== "" ? value : JSON.stringify(value, (_, v) => (typeof v === "bigint" ? String(v) : v)));

/** constants makes a list to choose from, of enum, const, and forms that are constants with titles. */
function constants(document, schema) {
  if (has(schema, "const")) return listed(schema, [{ value: schema.const, label: labelOf(schema.const) }]);
  if (has(schema, "enum") && Array.isArray(schema.enum)) {
    const names = list(schema, "enumNames");
    return listed(schema, schema.enum.map((value, i) => ({ value, label: typeof names[i] === "string" ? names[i] : labelOf(value), note: typeof names[i] === "string" ? labelOf(value) : undefined })));
  }
  for (const word of ["oneOf", "anyOf"]) {
    const forms = list(schema, word).map((form) => flat(document, form, undefined, () => false));
    if (forms.length > 0 && forms.every((form) => has(form, "const") || isNull(form))) return listed(schema, forms.map(titled));
  }
  return undefined;
}

const isNull = (form) => member(form, "type") === "null";

function titled(form) {
  const value = isNull(form) ? null : form.const;
  const title = member(form, "title");
  if (typeof title !== "string" || title === "") return { value, label: labelOf(value), note: noteOf(form) };
  return { value, label: title, note: [labelOf(value), noteOf(form)].filter(Boolean).join(": ") };
}

const noteOf = (form) => (typeof member(form, "description") === "string" ? form.description : undefined);

function listed(schema, options) {
  const types = typesOf(schema);
  const allowed = options.filter(({ value }) => !types || types.length === 0 || types.some((type) => ofType(type, value)));
  if (allowed.length === 0) return { kind: "json", schema, reason: "None of the values that the schema lists is of its type." };
  const nullable = types?.includes("null") && !allowed.some(({ value }) => value === null);
  return { kind: "enum", schema, options: allowed, nullable };
}

const ofType = (type, value) => (type === "integer" ? kindOf(value) === "number" : kindOf(value) === type);

/** branches makes a choice between forms, or one form that may be null. */
function branches(document, schema, value, depth) {
  for (const word of ["oneOf", "anyOf"]) {
    const all = list(schema, word);
    if (all.length === 0) continue;
    const base = without(schema, word);
    const bare = all.filter((form) => !isNull(flat(document, form, undefined, () => false)));
    const forms = bare.map((form, i) => ({ schema: { allOf: [form, base] }, label: labelOfForm(document, form, i) }));
    if (onlyDemands(bare)) continue;
    const nullable = bare.length < all.length;
    if (forms.length === 1) {
      const only = shape(document, forms[0].schema, value ?? undefined, depth + 1);
      return { ...only, nullable: nullable || only.nullable };
    }
    return { kind: "choice", schema: base, alternatives: distinct(forms), nullable };
  }
  return undefined;
}

/** onlyDemands says that forms differ only in what is required, which the check looks after. */
const onlyDemands = (forms) => forms.length > 0 && forms.every((form) => isObject(form) && Object.keys(form).every((word) => ["required", "title", "description"].includes(word)));

function without(schema, word) {
  const made = {};
  for (const name of Object.keys(schema)) if (name !== word && name !== "default") put(made, name, schema[name]);
  return made;
}

function labelOfForm(document, form, index) {
  const whole = flat(document, form, undefined, () => false);
  if (typeof member(whole, "title") === "string" && whole.title !== "") return whole.title;
  const properties = member(whole, "properties");
  for (const name of isObject(properties) ? Object.keys(properties).slice(0, 100) : []) {
    const property = flat(document, properties[name], undefined, () => false);
    if (has(property, "const")) return `${name}: ${labelOf(property.const)}`;
  }
  return typesOf(whole)?.join(" or ") || `Form ${index + 1}`;
}

/** distinct numbers the labels that more than one form has. */
function distinct(forms) {
  const count = new Map();
  for (const { label } of forms) count.set(label, (count.get(label) ?? 0) + 1);
  return forms.map((form, i) => (count.get(form.label) > 1 ? { ...form, label: `${form.label} (form ${i + 1})` } : form));
}

const words = {
  object: ["properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties"],
  array: ["items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  string: ["minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"],
};

/** guessed returns the type that a schema speaks of without naming it. */
const guessed = (schema) => Object.keys(words).find((type) => words[type].some((word) => has(schema, word)));

function byType(document, schema) {
  const named = typesOf(schema);
  if (named?.length === 0) return { kind: "json", schema, reason: "Its schemas exclude each other: there is no type that all of them allow." };
  const types = named ?? [guessed(schema)].filter(Boolean);
  const real = types.filter((type) => type !== "null");
  const nullable = real.length > 0 && real.length < types.length;
  if (real.length > 1) {
    return { kind: "choice", schema, nullable, alternatives: real.map((type) => ({ schema: { allOf: [without(schema, "type"), { type }] }, label: type })) };
  }
  return { nullable, schema, ...simple(document, schema, real[0] ?? types[0]) };
}

function simple(document, schema, type) {
  switch (type) {
    case "string":
    case "boolean":
    case "null":
    case "object":
      return { kind: type };
    case "number":
    case "integer":
      return { kind: "number", whole: type === "integer" };
    case "array":
      return items(document, schema);
    case undefined:
      return { kind: "json", reason: "The schema allows any value here." };
  }
  return { kind: "json", reason: `The schema has a type that JSON does not have: ${JSON.stringify(short(String(type)))}.` };
}

const mostFlags = 100;

/** items makes boxes to check of an array each of whose items is one of a few values. */
function items(document, schema) {
  const each = itemSchema(schema, 0);
  if (!isObject(each) || tupleOf(schema).length > 0) return { kind: "array" };
  const of = constants(document, flat(document, each, undefined, () => false));
  return of?.kind === "enum" && of.options.length <= mostFlags ? { kind: "flags", options: of.options } : { kind: "array" };
}

/** itemSchema returns the schema of an item, or undefined if there can be none at this place. */
export function itemSchema(schema, index) {
  const tuple = tupleOf(schema);
  if (index < tuple.length) return tuple[index];
  const rest = Array.isArray(member(schema, "items")) ? member(schema, "additionalItems") : member(schema, "items");
  if (rest === false) return undefined;
  return rest === undefined ? true : rest;
}

/** tupleOf returns the schemas of the items that have one of their own. */
export const tupleOf = (schema) => (list(schema, "prefixItems").length > 0 ? list(schema, "prefixItems") : list(schema, "items"));

/**
 * otherSchema returns the schema of a member that is not among the properties, or undefined if
 * there can be none of this name.
 */
export function otherSchema(schema, name, matches) {
  const patterns = member(schema, "patternProperties");
  for (const pattern of isObject(patterns) ? Object.keys(patterns) : []) if (matches(pattern, name)) return patterns[pattern];
  const rest = member(schema, "additionalProperties") ?? member(schema, "unevaluatedProperties");
  if (rest === false) return undefined;
  return rest === undefined ? true : rest;
}

/** chosen returns which of the options a value is, or -1. */
export const chosen = (options, value) => options.findIndex((option) => equal(option.value, value));
