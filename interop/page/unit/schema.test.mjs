import assert from "node:assert/strict";
import { test } from "node:test";

import { parse, stringify } from "../../../cmd/parley/internal/page/static/lib/json.js";
import { compare, isInteger, isMultiple } from "../../../cmd/parley/internal/page/static/lib/schema/decimal.js";
import { defaults } from "../../../cmd/parley/internal/page/static/lib/schema/defaults.js";
import { Document } from "../../../cmd/parley/internal/page/static/lib/schema/document.js";
import { matcher } from "../../../cmd/parley/internal/page/static/lib/schema/pattern.js";
import { matches } from "../../../cmd/parley/internal/page/static/lib/schema/limits.js";
import { itemSchema, otherSchema, shape } from "../../../cmd/parley/internal/page/static/lib/schema/shape.js";
import { validate } from "../../../cmd/parley/internal/page/static/lib/schema/validate.js";
import { at, canonical, equal, kindOf, moved, renamed, withItem, withMember } from "../../../cmd/parley/internal/page/static/lib/schema/value.js";

const shapeOf = (schema, value) => shape(new Document(schema), schema, value);
const pointers = (schema, value) => validate(schema, value).map((problem) => problem.pointer);

/** quick fails if something takes longer than a person waits. */
function quick(f) {
  const began = performance.now();
  const result = f();
  assert.ok(performance.now() - began < 5000, "it takes too long");
  return result;
}

test("numbers are compared to the last digit", () => {
  assert.ok(compare("9007199254740993", "9007199254740992") > 0);
  assert.equal(compare("1.0", "1"), 0);
  assert.equal(compare("1e2", "100"), 0);
  assert.ok(compare("-1", "-0.5") < 0);
  assert.ok(isInteger("1.0") && isInteger("1e3") && !isInteger("1.5") && !isInteger("1e-3"));
  assert.ok(isMultiple("0.3", "0.1") && !isMultiple("0.35", "0.1") && !isMultiple("1", "0"));
  quick(() => compare("1e999999999999", "-1e-999999999999"));
  quick(() => isMultiple(`1${"0".repeat(100_000)}`, "7"));
});

test("values keep members of any name, and are never changed in place", () => {
  const hostile = parse('{"__proto__": {"polluted": true}, "constructor": 1, "a/b": {"~": [1, 2]}}');
  assert.equal(at(hostile, "/__proto__/polluted"), true);
  assert.equal(at(hostile, "/a~1b/~0/1"), 2);
  assert.equal(at(hostile, "/toString"), undefined);
  const made = withMember(hostile, "__proto__", 5);
  assert.equal(stringify(made), '{"__proto__":5,"constructor":1,"a/b":{"~":[1,2]}}');
  assert.equal({}.polluted, undefined);
  assert.equal(stringify(withMember(made, "__proto__", undefined)), '{"constructor":1,"a/b":{"~":[1,2]}}');
  assert.equal(stringify(renamed(made, "constructor", "c")), '{"__proto__":5,"c":1,"a/b":{"~":[1,2]}}');
  assert.deepEqual(withItem([1, 2, 3], 1, undefined), [1, 3]);
  assert.deepEqual(moved([1, 2, 3], 0, 2), [2, 3, 1]);
  assert.ok(equal(parse('{"a":1.0,"b":2}'), parse('{"b":2,"a":1}')));
  assert.ok(!equal(parse("9007199254740993"), parse("9007199254740992")));
  assert.equal(kindOf(parse("12345678901234567890")), "number");
  let deep = 1;
  for (let i = 0; i < 20_000; i++) deep = [deep];
  quick(() => canonical(deep));
});

test("patterns are followed without going back", () => {
  for (const [pattern, text, want] of [
    ["^a+b*$", "aab", true],
    ["^a+b*$", "aabc", false],
    ["b", "abc", true],
    ["^[a-c]{2,3}$", "abc", true],
    ["^[a-c]{2,3}$", "abca", false],
    ["^(foo|ba[rz])?$", "baz", true],
    ["^(foo|ba[rz])?$", "", true],
    ["^(foo|ba[rz])?$", "ba", false],
    ["^\\d{3}-\\d{4}$", "555-1234", true],
    ["^\\p{Lu}.*", "Äx", true],
    ["^[^\\]]+$", "a[b", true],
    ["^\\S+@\\S+\\.\\S+$", "a@b.c", true],
    ["^.{3}$", "a💩b", true],
    ["^a{0}b$", "b", true],
    ["^(a*)*$", "aaaa", true],
    ["^x{,2}$", "x", undefined], // not a pattern of this dialect
    ["(?=a)b", "b", undefined],
    ["(a)\\1", "aa", undefined],
    ["(", "x", undefined],
  ]) {
    assert.equal(matcher(pattern)?.(text), want, `${pattern} on ${JSON.stringify(text)}`);
  }
  quick(() => matcher("^(a+)+$")(`${"a".repeat(5000)}!`));
  quick(() => matcher("^(a|aa)+$")(`${"a".repeat(5000)}!`));
  quick(() => matcher("(x{1000}){1000}"));
  quick(() => matcher("(".repeat(100_000)));
});

test("values are checked, each problem at its place", () => {
  const person = {
    type: "object",
    properties: { name: { type: "string", minLength: 2 }, age: { type: "integer", minimum: 0 }, mail: { type: "string", format: "email" } },
    required: ["name"],
    additionalProperties: false,
  };
  assert.deepEqual(validate(person, { name: "Ada", age: 36, mail: "ada@example.com" }), []);
  assert.deepEqual(pointers(person, { name: "A", age: -1, mail: "x", other: 1 }), ["/name", "/age", "/mail", "/other"]);
  assert.deepEqual(validate(person, {}), [{ pointer: "/name", message: "is required", missing: true }]);
  assert.deepEqual(validate(person, undefined), [{ pointer: "", message: "is missing" }]);
  assert.match(validate(person, { name: "Ada", age: parse("1.5") })[0].message, /integer/);
  assert.deepEqual(validate(person, { name: "Ada", age: parse("3.0") }), []);
});

test("every keyword is checked", () => {
  for (const [schema, good, bad, where = ""] of [
    [{ type: ["string", "null"] }, null, 1],
    [{ const: { a: 1 } }, { a: 1 }, { a: 2 }],
    [{ enum: [1, "two", null] }, "two", "three"],
    [{ minimum: 1, maximum: 3 }, 2, 4],
    [{ exclusiveMinimum: 1, exclusiveMaximum: 3 }, 2, 1],
    [{ minimum: 1, exclusiveMinimum: true }, 2, 1],
    [{ multipleOf: 0.1 }, 0.3, 0.25],
    [{ maxLength: 2 }, "💩💩", "abc"],
    [{ pattern: "^a" }, "ab", "b"],
    [{ items: { type: "number" } }, [1, 2], [1, "x"], "/1"],
    [{ prefixItems: [{ type: "number" }], items: false }, [1], [1, 2], "/1"],
    [{ items: [{ type: "number" }], additionalItems: false }, [1], [1, 2], "/1"],
    [{ uniqueItems: true }, [1, "1"], [1, parse("1.0")], "/1"],
    [{ minItems: 1, maxItems: 2 }, [1], []],
    [{ contains: { const: 1 }, maxContains: 1 }, [1, 2], [1, 1]],
    [{ contains: { const: 1 }, minContains: 2 }, [1, 1], [1]],
    [{ minProperties: 1, maxProperties: 1 }, { a: 1 }, {}],
    [{ patternProperties: { "^x": { type: "number" } }, additionalProperties: false }, { x1: 1 }, { x1: "" }, "/x1"],
    [{ propertyNames: { pattern: "^[a-z]+$" } }, { ok: 1 }, { "Not ok": 1 }, "/Not ok"],
    [{ dependentRequired: { a: ["b"] } }, { a: 1, b: 1 }, { a: 1 }, "/b"],
    [{ dependencies: { a: ["b"] } }, {}, { a: 1 }, "/b"],
    [{ dependentSchemas: { a: { required: ["b"] } } }, { b: 1 }, { a: 1 }, "/b"],
    [{ allOf: [{ minimum: 1 }, { maximum: 3 }] }, 2, 4],
    [{ anyOf: [{ type: "string" }, { type: "number" }] }, "x", true],
    [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, 4, 6],
    [{ not: { type: "string" } }, 1, "x"],
    [{ if: { minimum: 10 }, then: { multipleOf: 10 }, else: { multipleOf: 2 } }, 20, 15],
    [{ $ref: "#/$defs/n", $defs: { n: { type: "number" } } }, 1, "x"],
    [{ $ref: "#n", $defs: { n: { $anchor: "n", type: "number" } } }, 1, "x"],
    [{ properties: { a: true }, unevaluatedProperties: false }, { a: 1 }, { b: 1 }, "/b"],
    [{ allOf: [{ properties: { a: true } }], unevaluatedProperties: false }, { a: 1 }, { a: 1, b: 1 }, "/b"],
    [{ prefixItems: [true], unevaluatedItems: false }, [1], [1, 2], "/1"],
    [{ format: "date-time" }, "2026-07-28T10:00:00Z", "2026-02-30T10:00:00Z"],
    [{ format: "ipv4" }, "192.0.2.1", "192.0.2.256"],
    [{ format: "ipv6" }, "2001:db8::1", "2001:db8::g"],
    [{ format: "uuid" }, "123e4567-e89b-12d3-a456-426614174000", "123"],
    [{ format: "duration" }, "P1DT2H", "P"],
    [{ format: "unheard-of" }, "x", undefined],
  ]) {
    assert.deepEqual(validate(schema, good), [], `${JSON.stringify(schema)} takes ${stringify(good)}`);
    if (bad !== undefined) assert.ok(pointers(schema, bad).includes(where), `${JSON.stringify(schema)} refuses ${stringify(bad)} at ${JSON.stringify(where)}: ${JSON.stringify(validate(schema, bad))}`);
  }
});

test("of several forms, the one that comes closest is explained", () => {
  const schema = { oneOf: [{ type: "object", properties: { kind: { const: "a" }, n: { type: "number" } }, required: ["kind", "n"] }, { type: "string" }] };
  assert.deepEqual(pointers(schema, { kind: "a" }), ["/n"]);
  assert.deepEqual(validate(schema, 1), [{ pointer: "", message: "must be an object, or must be text" }]);
});

test("draft-07 references stand alone", () => {
  const schema = { $schema: "http://json-schema.org/draft-07/schema#", properties: { a: { $ref: "#/definitions/n", minimum: 5 } }, definitions: { n: { type: "number" } } };
  assert.deepEqual(validate(schema, { a: 1 }), []);
  assert.deepEqual(pointers({ ...schema, $schema: undefined }, { a: 1 }), ["/a"]);
});

test("each schema has its field", () => {
  for (const [schema, kind, more = {}] of [
    [{ type: "string" }, "string"],
    [{ type: "integer" }, "number", { whole: true }],
    [{ type: "number" }, "number", { whole: false }],
    [{ type: "boolean" }, "boolean"],
    [{ type: "null" }, "null"],
    [{ type: "array", items: { type: "string" } }, "array"],
    [{ type: "array", items: { enum: ["a", "b"] } }, "flags"],
    [{ type: "object" }, "object"],
    [{ properties: {} }, "object"],
    [{ minimum: 1 }, "number"],
    [{ enum: ["a", 1] }, "enum"],
    [{ const: 1 }, "enum"],
    [{ oneOf: [{ const: "a", title: "A" }, { const: "b" }] }, "enum"],
    [{ type: ["string", "null"] }, "string", { nullable: true }],
    [{ type: ["string", "number"] }, "choice"],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string", { nullable: true }],
    [{ anyOf: [{ type: "string" }, { type: "object" }] }, "choice"],
    [{ allOf: [{ type: "string" }, { maxLength: 3 }] }, "string"],
    [{ allOf: [{ type: "string" }, { type: "number" }] }, "json"],
    [{ $ref: "#/$defs/a", $defs: { a: { type: "boolean" } } }, "boolean"],
    [{ $ref: "https://example.com/other" }, "json"],
    [{ $ref: "#" }, "json"],
    [{}, "json"],
    [true, "json"],
    [false, "json"],
    [{ type: "teapot" }, "json"],
  ]) {
    const made = shapeOf(schema);
    assert.equal(made.kind, kind, JSON.stringify(schema));
    for (const [name, value] of Object.entries(more)) assert.equal(made[name], value, `${name} of ${JSON.stringify(schema)}`);
    if (kind === "json") assert.ok(made.reason, `a reason for ${JSON.stringify(schema)}`);
  }
});

test("titles name choices, and forms by what tells them apart", () => {
  const titled = shapeOf({ oneOf: [{ const: "r", title: "Red" }, { const: "g", title: "Green" }] });
  assert.deepEqual(titled.options.map(({ label, value }) => [label, value]), [["Red", "r"], ["Green", "g"]]);
  const named = shapeOf({ type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] });
  assert.deepEqual(named.options.map(({ label }) => label), ["Red", "Green"]);
  const forms = shapeOf({ oneOf: [{ title: "Circle", type: "object" }, { type: "object", properties: { kind: { const: "square" } } }, { type: "string" }, { type: "string" }] });
  assert.deepEqual(forms.alternatives.map(({ label }) => label), ["Circle", "kind: square", "string (form 3)", "string (form 4)"]);
});

test("what is merged holds for all parts", () => {
  const { schema } = shapeOf({ allOf: [{ type: "object", properties: { a: { type: "string" } }, required: ["a"] }, { properties: { a: { maxLength: 3 }, b: {} }, required: ["b"] }], title: "Both" });
  assert.deepEqual(schema.required, ["a", "b"]);
  assert.equal(schema.title, "Both");
  assert.deepEqual(validate(schema.properties.a, "long text").length, 1);
  const conditional = { type: "object", properties: { kind: { type: "string" } }, if: { properties: { kind: { const: "x" } }, required: ["kind"] }, then: { properties: { extra: { type: "number" } } } };
  assert.ok(!("extra" in shapeOf(conditional, {}).schema.properties));
  assert.ok("extra" in shapeOf(conditional, { kind: "x" }).schema.properties);
});

test("items and other members have their schemas", () => {
  const tuple = { prefixItems: [{ type: "string" }], items: false };
  assert.deepEqual([itemSchema(tuple, 0), itemSchema(tuple, 1)], [{ type: "string" }, undefined]);
  assert.equal(itemSchema({ items: [{ type: "string" }] }, 1), true);
  const open = { patternProperties: { "^x": { type: "number" } }, additionalProperties: { type: "string" } };
  assert.equal(otherSchema(open, "x1", matches).type, "number");
  assert.equal(otherSchema(open, "y", matches).type, "string");
  assert.equal(otherSchema({ additionalProperties: false }, "y", matches), undefined);
});

test("forms begin with what the schema gives", () => {
  const schema = {
    type: "object",
    properties: {
      a: { type: "string", default: "x" },
      b: { type: "string" },
      c: { type: "object", properties: { d: { default: 1 } } },
      e: { type: "object", properties: { f: { default: null } } },
      g: { const: 5 },
      h: { type: "array", minItems: 2, items: { type: "object" } },
    },
    required: ["b", "e", "g", "h"],
  };
  assert.equal(stringify(defaults(schema)), '{"a":"x","e":{"f":null},"g":5,"h":[{},{}]}');
  assert.equal(defaults({ type: "string" }), undefined);
  assert.deepEqual(defaults({ type: "object" }), {});
  assert.equal(stringify(defaults({ type: "object", properties: parse('{"__proto__":{"default":1}}') })), '{"__proto__":1}');
});

test("hostile schemas keep nobody waiting", () => {
  const tree = { type: "object", properties: { left: { $ref: "#" }, right: { $ref: "#" } }, required: ["left", "right"] };
  quick(() => defaults(tree));
  quick(() => validate(tree, defaults(tree)));
  const bomb = { $ref: "#/$defs/l0", $defs: {} };
  for (let i = 0; i < 40; i++) bomb.$defs[`l${i}`] = { allOf: [{ $ref: `#/$defs/l${i + 1}` }, { $ref: `#/$defs/l${i + 1}` }] };
  quick(() => shapeOf(bomb));
  quick(() => validate(bomb, 1));
  quick(() => defaults(bomb));
  const wide = { type: "object", properties: {} };
  for (let i = 0; i < 10_000; i++) wide.properties[`p${i}`] = { type: "string", default: "x" };
  quick(() => validate(wide, quick(() => defaults(wide))));
  let deep = { type: "string" };
  for (let i = 0; i < 5000; i++) deep = { type: "object", properties: { a: deep }, required: ["a"] };
  quick(() => defaults(deep));
  let value = "x";
  for (let i = 0; i < 5000; i++) value = { a: value };
  quick(() => validate(deep, value));
  quick(() => validate({ anyOf: Array.from({ length: 200 }, () => ({ $ref: "#" })) }, 1));
  quick(() => shapeOf({ $ref: "#/a", a: { $ref: "#/b" }, b: { $ref: "#/a" } }));
  quick(() => shapeOf({ anyOf: [{ $ref: "#" }, { $ref: "#" }] }));
  quick(() => shapeOf({ anyOf: [{ $ref: "#" }, { type: "null" }] }));
  for (const odd of [null, 1, "x", [], { properties: 5 }, { required: "a" }, { enum: {} }, { anyOf: {} }, { type: 5 }, { items: 5 }, { allOf: [null] }, { $ref: 5 }, { pattern: 5 }, { minimum: "1" }]) {
    shapeOf(odd, { a: 1 });
    validate(odd, { a: [1] });
    defaults(odd);
  }
});
