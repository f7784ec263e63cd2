import assert from "node:assert/strict";
import { test } from "node:test";

import { numberOf, parse } from "../../../cmd/parley/internal/page/static/lib/json.js";
import { label, visible } from "../../../cmd/parley/internal/page/static/lib/text.js";

// What servers send in place of numbers and texts: none of it can be made a text by itself.
const odd = parse('{"toString":"no","valueOf":7,"__proto__":{"length":-1}}');

test("what is no number is none, whatever it is", () => {
  for (const [value, want] of [[7, 7], ["8.5", 8.5], [parse("12345678901234567890"), 12345678901234567890], [parse("1.0"), 1]]) assert.equal(numberOf(value), want);
  for (const value of [odd, null, undefined, true, [], [1], {}, "seven"]) assert.ok(Number.isNaN(numberOf(value)), label(value));
});

test("a text of several lines keeps its lines, and shows what hides", () => {
  assert.equal(visible("one\ntwo \u202Ethree\r\n\u001B[2J"), "one\ntwo ⟨U+202E⟩three\r\n⟨U+001B⟩[2J");
  assert.equal(visible("a".repeat(50), 10), `${"a".repeat(10)}…`);
  assert.equal(visible(undefined), "");
  assert.equal(visible(odd), '{"toString":"no","valueOf":7,"__proto__":{"length":-1}}');
});
