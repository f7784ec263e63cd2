// Checks a value against a schema, so that a form can say what is wrong, and where. The
// server has the last word: what is not understood here is not complained of.

import { isInteger } from "./decimal.js";
import { Document, list } from "./document.js";
import { matches, number, plural, size, text, unique } from "./limits.js";
import { typesOf } from "./merge.js";
import { canonical, equal, has, isObject, kindOf, member, numberText, pointer } from "./value.js";

const mostSteps = 300_000;
const deepest = 300;
const mostProblems = 200;

/** @typedef {{pointer: string, message: string, missing?: boolean}} Problem missing: it is only that nothing was given yet */

/**
 * validate returns what does not fit, each with the place that it concerns.
 * @param {unknown} schema
 * @param {unknown} value undefined for one that is missing
 * @returns {Problem[]}
 */
export function validate(schema, value) {
  return problemsOf(schema instanceof Document ? schema : new Document(schema), undefined, value);
}

/** problemsOf is validate for a part of a document. */
export function problemsOf(document, part, value) {
  if (value === undefined) return [{ pointer: "", message: "is missing" }];
  const check = new Check(document);
  const out = new Findings();
  check.apply(part ?? document.root, value, "", out, 0);
  // Whoever gives up has no right to complain.
  return check.spent ? [] : out.problems;
}

/** fits says whether a value fits a part of a document. */
export const fits = (document, part, value) => problemsOf(document, part, value).length === 0;

/** Findings are the problems of a value, and which of its members and items were looked at. */
class Findings {
  problems = [];
  names = new Set();
  items = new Set();
  everything = false; // members and items alike

  add(pointer, message, missing = false) {
    if (this.problems.length < mostProblems) this.problems.push(missing ? { pointer, message, missing } : { pointer, message });
    else this.problems[mostProblems] = { pointer: "", message: "There is more that does not fit." };
  }

  copy({ pointer, message, missing }) {
    this.add(pointer, message, missing);
  }

  get holds() {
    return this.problems.length === 0;
  }

  /** looked takes over what another check of the same value has looked at. */
  looked(other) {
    for (const name of other.names) this.names.add(name);
    for (const item of other.items) this.items.add(item);
    this.everything ||= other.everything;
  }

  take(other) {
    for (const problem of other.problems) this.copy(problem);
    this.looked(other);
  }
}

const nouns = { null: "null", boolean: "true or false", number: "a number", integer: "an integer", string: "text", array: "a list", object: "an object" };
const either = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`);
const quoted = (value) => {
  const text = canonicalShort(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
};
const canonicalShort = (value) => (kindOf(value) === "number" ? numberText(value) : isObject(value) || Array.isArray(value) ? canonical(value) : JSON.stringify(value));

class Check {
  steps = 0;
  spent = false;

  constructor(document) {
    this.document = document;
  }

  /** apply checks a value against one schema. */
  apply(schema, value, at, out, depth) {
    if (++this.steps > mostSteps || depth > deepest) this.spent = true;
    if (this.spent || schema === true || schema === undefined) return;
    if (schema === false) return out.add(at, "is not allowed");
    if (!isObject(schema)) return;
    const reference = member(schema, "$ref") ?? member(schema, "$dynamicRef") ?? member(schema, "$recursiveRef");
    if (reference !== undefined) {
      const target = this.document.find(reference);
      if (target !== undefined) this.apply(target, value, at, out, depth + 1);
      if (this.document.loneReferences && has(schema, "$ref")) return;
    }
    if (!this.kind(schema, value, at, out)) return;
    this.content(schema, value, at, out, depth);
    this.combined(schema, value, at, out, depth);
    this.unevaluated(schema, value, at, out, depth);
  }

  /** kind applies what makes all other complaints pointless. */
  kind(schema, value, at, out) {
    const types = typesOf(schema);
    const kind = kindOf(value);
    const is = (type) => (type === "integer" ? kind === "number" && isInteger(numberText(value)) : kind === type);
    if (types && types.length > 0 && !types.some(is)) return void out.add(at, `must be ${either(types.map((type) => nouns[type] ?? type))}`);
    if (has(schema, "const") && !equal(schema.const, value)) return void out.add(at, `must be ${quoted(schema.const)}`);
    const values = member(schema, "enum");
    if (Array.isArray(values)) {
      if ((this.steps += values.length) > mostSteps) this.spent = true;
      else if (!values.some((allowed) => equal(allowed, value))) return void out.add(at, values.length > 8 ? `must be one of ${values.length} values` : `must be ${either(values.map(quoted))}`);
    }
    return true;
  }

  content(schema, value, at, out, depth) {
    switch (kindOf(value)) {
      case "string":
        return text(schema, value, at, out);
      case "number":
        return number(schema, numberText(value), at, out);
      case "array":
        return this.array(schema, value, at, out, depth);
      case "object":
        return this.object(schema, value, at, out, depth);
    }
  }

  array(schema, value, at, out, depth) {
    size(schema, value.length, "Items", "item", at, out);
    const prefix = list(schema, "prefixItems");
    const items = member(schema, "items");
    const tuple = prefix.length > 0 || !Array.isArray(items) ? prefix : items;
    const rest = Array.isArray(items) ? member(schema, "additionalItems") : items;
    value.forEach((item, i) => {
      if (i >= tuple.length && rest === undefined) return;
      out.items.add(i);
      if (i >= tuple.length && rest === false) return out.add(pointer(at, i), `is one too many: there can be only ${tuple.length}`);
      this.within(i < tuple.length ? tuple[i] : rest, item, pointer(at, i), out, depth);
    });
    if (schema.uniqueItems === true) unique(value, at, out);
    if (has(schema, "contains")) this.contains(schema, value, at, out, depth);
  }

  contains(schema, value, at, out, depth) {
    let count = 0;
    value.forEach((item, i) => {
      if (!this.holds(schema.contains, item, depth)) return;
      count++;
      out.items.add(i);
    });
    const least = member(schema, "minContains") ?? 1;
    if (count < least) out.add(at, `must contain at least ${plural(least, "item")} of a certain form`);
    const most = member(schema, "maxContains");
    if (typeof most === "number" && count > most) out.add(at, `must contain at most ${plural(most, "item")} of a certain form`);
  }

  object(schema, value, at, out, depth) {
    const names = Object.keys(value);
    size(schema, names.length, "Properties", "member", at, out);
    for (const name of list(schema, "required")) if (!has(value, name)) out.add(pointer(at, name), "is required", true);
    for (const name of names) this.property(schema, name, value[name], pointer(at, name), out, depth);
    for (const word of ["dependentRequired", "dependencies"]) {
      const needs = member(schema, word);
      for (const name of isObject(needs) ? names : []) {
        for (const other of list(needs, name)) if (!has(value, other)) out.add(pointer(at, other), `is required, because there is ${JSON.stringify(name)}`);
      }
    }
  }

  property(schema, name, value, at, out, depth) {
    const properties = member(schema, "properties");
    const byPattern = member(schema, "patternProperties");
    let known = has(properties, name);
    if (known) this.within(properties[name], value, at, out, depth);
    for (const pattern of isObject(byPattern) ? Object.keys(byPattern) : []) {
      const found = matches(pattern, name);
      known ||= found !== false;
      if (found) this.within(byPattern[pattern], value, at, out, depth);
    }
    if (has(schema, "propertyNames")) this.naming(schema.propertyNames, name, at, out, depth);
    const rest = member(schema, "additionalProperties");
    if (known || rest !== undefined) out.names.add(name);
    if (known || rest === undefined) return;
    if (rest === false) out.add(at, "is not a name that the schema allows");
    else this.within(rest, value, at, out, depth);
  }

  naming(schema, name, at, out, depth) {
    const of = new Findings();
    this.apply(schema, name, "", of, depth + 1);
    for (const { message } of of.problems) out.add(at, `has a name that ${message}`);
  }

  /** within checks a part of the value. */
  within(schema, value, at, out, depth) {
    const of = new Findings();
    this.apply(schema, value, at, of, depth + 1);
    for (const problem of of.problems) out.copy(problem);
  }

  holds(schema, value, depth, seen) {
    const of = new Findings();
    this.apply(schema, value, "", of, depth + 1);
    if (of.holds) seen?.looked(of);
    return of.holds;
  }

  /** combined applies the schemas that look at the same value. */
  combined(schema, value, at, out, depth) {
    for (const part of list(schema, "allOf")) this.beside(part, value, at, out, depth);
    if (has(schema, "not") && this.holds(schema.not, value, depth)) out.add(at, "has a form that is not allowed");
    if (list(schema, "anyOf").length > 0) this.any(schema.anyOf, value, at, out, depth);
    if (list(schema, "oneOf").length > 0) this.one(schema.oneOf, value, at, out, depth);
    if (has(schema, "if")) this.beside(member(schema, this.holds(schema.if, value, depth, out) ? "then" : "else"), value, at, out, depth);
    for (const word of ["dependentSchemas", "dependencies"]) {
      const all = member(schema, word);
      for (const name of isObject(all) && isObject(value) ? Object.keys(all) : []) {
        if (has(value, name) && !Array.isArray(all[name])) this.beside(all[name], value, at, out, depth);
      }
    }
  }

  beside(schema, value, at, out, depth) {
    const of = new Findings();
    this.apply(schema, value, at, of, depth + 1);
    out.take(of);
  }

  tried(forms, value, at, depth) {
    return forms.map((form) => {
      const of = new Findings();
      this.apply(form, value, at, of, depth + 1);
      return of;
    });
  }

  any(forms, value, at, out, depth) {
    const tried = this.tried(forms, value, at, depth);
    const fitting = tried.filter((of) => of.holds);
    fitting.forEach((of) => out.looked(of));
    if (fitting.length === 0) none(tried, at, out);
  }

  one(forms, value, at, out, depth) {
    const tried = this.tried(forms, value, at, depth);
    const fitting = tried.flatMap((of, i) => (of.holds ? [i] : []));
    fitting.forEach((i) => out.looked(tried[i]));
    if (fitting.length === 0) none(tried, at, out);
    if (fitting.length > 1) out.add(at, `must have exactly one of the forms, but has form ${fitting[0] + 1} and form ${fitting[1] + 1}`);
  }

  unevaluated(schema, value, at, out, depth) {
    if (out.everything) return;
    const names = has(schema, "unevaluatedProperties") && isObject(value) ? Object.keys(value) : [];
    for (const name of names) if (!out.names.has(name)) this.left(schema.unevaluatedProperties, value[name], pointer(at, name), out, depth);
    const items = has(schema, "unevaluatedItems") && Array.isArray(value) ? value : [];
    items.forEach((item, i) => out.items.has(i) || this.left(schema.unevaluatedItems, item, pointer(at, i), out, depth));
    if (names.length > 0 || items.length > 0) out.everything = true;
  }

  left(schema, value, at, out, depth) {
    if (schema === false) out.add(at, "is not foreseen by the schema");
    else this.within(schema, value, at, out, depth);
  }
}

/** none explains why no form fits, by the form that comes closest. */
function none(tried, at, out) {
  const rootProblem = (of) => of.problems.some((problem) => problem.pointer === at);
  const near = tried.filter((of) => !rootProblem(of)).sort((a, b) => a.problems.length - b.problems.length);
  if (near.length > 0) return near[0].problems.forEach((problem) => out.copy(problem));
  const reasons = [...new Set(tried.map((of) => of.problems.find((problem) => problem.pointer === at).message))];
  out.add(at, reasons.length <= 3 ? reasons.join(", or ") : `has none of the ${tried.length} forms that the schema allows`);
}
