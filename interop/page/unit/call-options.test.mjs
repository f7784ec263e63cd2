import assert from "node:assert/strict";
import { test } from "node:test";

import { optionsOf } from "../../../cmd/parley/internal/page/static/inspect/call-options.js";

test("options are read as the API takes them", () => {
  assert.deepEqual(optionsOf({}).wrong, {});
  const { wrong, ...read } = optionsOf({ task: true, ttl: "60", timeout: " 1.5 ", logLevel: "info", metaText: '{"com.example/a":1}' });
  assert.deepEqual(wrong, {});
  assert.deepEqual({ ...read, meta: Object.keys(read.meta) }, { task: true, ttl: 60_000, timeout: 1500, logLevel: "info", meta: ["com.example/a"] });
  assert.equal(optionsOf({ task: false, ttl: "abc" }).ttl, undefined);
});

test("what is no time or no object of one's own is wrong", () => {
  for (const timeout of ["abc", "0", "-1", "0.0001", "99999999999999999999", "1e3", "1,5"]) assert.ok(optionsOf({ timeout }).wrong.timeout, timeout);
  assert.ok(optionsOf({ task: true, ttl: "abc" }).wrong.ttl);
  for (const metaText of ["{", "[1]", "1", "null", '{"progressToken":"mine"}', '{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}']) assert.ok(optionsOf({ metaText }).wrong.metaText, metaText);
});
