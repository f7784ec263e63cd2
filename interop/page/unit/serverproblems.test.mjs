import assert from "node:assert/strict";
import { test } from "node:test";

import { serverProblems } from "../../../cmd/parley/internal/page/static/lib/schema/serverproblems.js";

const schema = { properties: { name: {}, items: {}, "a/b": {} } };
const places = (texts, data) => serverProblems(texts, data, schema).map(({ pointer }) => pointer);

test("what libraries say of arguments is put to the fields", () => {
  assert.deepEqual(places(['Invalid arguments for tool x: [{"code":"invalid_type","path":["items",0,"id"],"message":"Required"}]']), ["/items/0/id"]);
  assert.deepEqual(places(["1 validation error for x\nname\n  Field required [type=missing, input_value={}]"]), ["/name"]);
  assert.deepEqual(places(['missing required argument "name"']), ["/name"]);
  assert.deepEqual(places(["items[2].id: expected string, got number 5"]), ["/items/2/id"]);
  assert.deepEqual(places(["MCP error -32602: Input validation error: Invalid arguments for tool x: Invalid input: expected string, received undefined at name\nToo small at items[0].id"]), ["/name", "/items/0/id"]);
  assert.deepEqual(places([], { errors: [{ instancePath: "/name", message: "must be string" }] }), ["/name"]);
  assert.deepEqual(places([], [{ pointer: "/a~1b", message: "no" }]), ["/a~1b"]);
});

test("what stands before the first problem is left out", () => {
  assert.deepEqual(serverProblems(["MCP error -32602: Invalid arguments for tool x: Too short at name"], undefined, schema), [{ pointer: "/name", message: "Too short" }]);
});

test("other texts say nothing of fields", () => {
  assert.deepEqual(places(["Error: it failed", "it failed at noon", " at ", "https://example.com: not found", undefined, 5, "[", "x".repeat(200_000)]), []);
  assert.deepEqual(places(["__proto__: bad", 'missing "toString"']), []);
  assert.deepEqual(serverProblems(["a: b"], { errors: { errors: { errors: { errors: [] } } } }, undefined), []);
});
