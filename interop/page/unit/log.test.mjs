import assert from "node:assert/strict";
import { test } from "node:test";

import { asked, grown } from "../../../cmd/parley/internal/page/static/inspect/log-entries.js";

const answer = (numbers, last, first = 1) => ({ entries: numbers.map((n) => ({ n })), first, last, dropped: first - 1 });
const numbers = ({ entries }) => entries.map(({ n }) => n);
const filter = { level: "", q: "x" };

test("only what is new is asked for", () => {
  assert.deepEqual(asked(filter, undefined), filter);
  assert.deepEqual(asked(filter, answer([2], 7)), { ...filter, after: 7 });
  assert.equal(asked(filter, answer([], 0)).after, undefined);
});

test("what is new is added to what is known, and what is gone is left out", () => {
  const known = answer([2, 3, 5], 6);
  assert.deepEqual(grown(undefined, known), known);
  assert.deepEqual(numbers(grown(known, answer([7, 9], 9))), [2, 3, 5, 7, 9]);
  assert.deepEqual(numbers(grown(known, answer([], 6))), [2, 3, 5]);
  assert.deepEqual(numbers(grown(known, answer([7], 7, 3))), [3, 5, 7]);
  assert.deepEqual(numbers(grown(known, answer([], 6, 7))), [], "the log was cleared");
  assert.equal(grown(known, answer([7], 7, 3)).dropped, 2);
  assert.deepEqual(numbers(known), [2, 3, 5], "what was known is as it was");
});
