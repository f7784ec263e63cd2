import assert from "node:assert/strict";
import { test } from "node:test";

import { diff, match, same } from "../../../cmd/parley/internal/page/static/lib/diff.js";
import { parse } from "../../../cmd/parley/internal/page/static/lib/json.js";

test("the order of members does not matter, that of items does", () => {
  assert.ok(same(parse('{"a":1,"b":[1,2]}'), parse('{"b":[1,2],"a":1}')));
  assert.ok(!same(parse("[1,2]"), parse("[2,1]")));
  assert.ok(!same(parse("{}"), parse("[]")));
  assert.ok(!same(parse('{"a":null}'), parse("{}")));
});

test("numbers are compared to the last digit", () => {
  assert.ok(same(parse("12345678901234567890"), parse("12345678901234567890")));
  assert.ok(!same(parse("12345678901234567890"), parse("12345678901234567891")));
  assert.ok(!same(parse("1"), parse('"1"')));
  assert.deepEqual(diff(parse('{"n":1.0}'), parse('{"n":2}')).map(({ pointer }) => pointer), ["/n"]);
});

test("places are named by JSON pointers", () => {
  const places = diff(parse('{"a/b":{"~":1},"list":[1,{"x":1}],"same":0}'), parse('{"a/b":{"~":2},"list":[1,{"x":2},3],"new":true,"same":0}'));
  assert.deepEqual(places, [
    { pointer: "/a~1b/~0", left: 1, right: 2 },
    { pointer: "/list/1/x", left: 1, right: 2 },
    { pointer: "/list/2", left: undefined, right: 3 },
    { pointer: "/new", left: undefined, right: true },
  ]);
});

test("names that mean something to JavaScript are names", () => {
  const places = diff(parse('{"__proto__":{"x":1},"constructor":1}'), parse('{"__proto__":{"x":2}}'));
  assert.deepEqual(places.map(({ pointer }) => pointer), ["/__proto__/x", "/constructor"]);
});

test("there are no more places than wanted", () => {
  assert.equal(diff(Array.from({ length: 50 }, () => 1), [], { most: 10 }).length, 10);
});

test("items are paired by their names, one by one", () => {
  const pairs = match([{ name: "a" }, { name: "b", x: 1 }, { name: "d" }, { name: "d" }], [{ name: "b", x: 2 }, { name: "c" }, { name: "d" }], ({ name }) => name);
  assert.deepEqual(pairs.map(({ key, state }) => `${key} ${state}`), ["a removed", "b changed", "c added", "d same", "d removed"]);
});
