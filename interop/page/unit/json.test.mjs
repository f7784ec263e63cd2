import assert from "node:assert/strict";
import { test } from "node:test";

import { Exact, isNumber, parse, stringify } from "../../../cmd/parley/internal/page/static/lib/json.js";

test("numbers keep every digit", () => {
  for (const text of ["12345678901234567890", "-0", "1.0", "1e400", "0.1000", "9007199254740993", "1E5", "-1.50e-7", "123456789012345.678901234567890"]) {
    for (const document of [text, `[${text}]`, `{"a":${text}}`, `[1,"x",${text},${text}]`, `{"${text}":${text}}`]) {
      assert.equal(stringify(parse(document)), document);
    }
    assert.ok(parse(text) instanceof Exact && isNumber(parse(text)) && String(parse(text)) === text);
  }
});

test("plain numbers are numbers", () => {
  for (const [text, value] of [["0", 0], ["-1", -1], ["1.5", 1.5], ["9007199254740991", 9007199254740991], ["1e21", undefined]]) {
    if (value !== undefined) assert.equal(parse(text), value);
    assert.equal(stringify(parse(`[${text}]`)), `[${text}]`);
  }
});

test("numbers in strings stay strings", () => {
  for (const text of ['"1.0"', '"\\"1.0"', '"\\\\"', '["\\\\",1.0]', '{"a\\"1e5":"2.50 \\\\\\""}', '"12345678901234567890"', '"\\u0000"']) {
    assert.equal(stringify(parse(text)), text);
    assert.deepEqual(JSON.parse(stringify(parse(text))), JSON.parse(text));
  }
});

test("names that objects have anyway are members like others", () => {
  const value = parse('{"__proto__":{"a":1.0},"constructor":null,"toString":1.0}');
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.deepEqual(Object.keys(value), ["__proto__", "constructor", "toString"]);
  assert.equal(stringify(value), '{"__proto__":{"a":1.0},"constructor":null,"toString":1.0}');
  assert.equal({}.a, undefined);
});

test("what is no JSON is an error", () => {
  for (const text of ["", "{", "01", "1.", ".5", "[1.0,]", '{"a":1.0', "1.0 2", "NaN", "'a'", '"\\x"', "-"]) assert.throws(() => parse(text), SyntaxError, text);
});

test("stringify indents, and leaves out what JSON has not", () => {
  assert.equal(stringify({ a: [parse("1.0")], b: undefined }, 2), '{\n  "a": [\n    1.0\n  ]\n}');
  assert.equal(stringify(undefined), "");
});

test("what any text says, it is read as JSON.parse reads it", () => {
  // Pseudo-random, and the same each time.
  let seed = 7;
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  const pieces = ["1.0", "-0", '"a\\"b"', '"\\\\"', "true", "null", "123", "12345678901234567890", '"1e5"', "0.5"];
  const make = (depth) => {
    const kind = depth > 4 ? 0 : random(3);
    if (kind === 1) return `[${Array.from({ length: random(4) }, () => make(depth + 1)).join(",")}]`;
    if (kind === 2) return `{${Array.from({ length: random(4) }, (_, i) => `"k${i}\\"":${make(depth + 1)}`).join(",")}}`;
    return pieces[random(pieces.length)];
  };
  for (let i = 0; i < 3000; i++) {
    const text = make(0);
    assert.equal(stringify(parse(text)), text);
    assert.deepEqual(JSON.parse(stringify(parse(text))), JSON.parse(text));
  }
});
