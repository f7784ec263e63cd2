import assert from "node:assert/strict";
import { test } from "node:test";

import { asked, grown } from "../../../cmd/parley/internal/page/static/inspect/traffic/numbers.js";

const answer = (runs, through, first = 1) => ({ runs, through, state: { first } });
const all = { q: "x", exchange: undefined };

test("only what is new is asked for", () => {
  assert.deepEqual(asked(all, undefined), all);
  assert.deepEqual(asked(all, answer([[2, 3]], 7)), { ...all, after: 7 });
  assert.equal(asked(all, answer([], 0)).after, undefined);
});

test("what is new is added to what is known", () => {
  const known = answer([[2, 3], [5, 7]], 8);
  assert.deepEqual(grown(undefined, known, all), known);
  assert.deepEqual(grown(known, answer([[9, 9], [12, 13]], 14), all).runs, [[2, 3], [5, 7], [9, 9], [12, 13]]);
  assert.equal(grown(known, answer([[9, 9]], 14), all).through, 14);
  assert.deepEqual(grown(answer([[5, 8]], 8), answer([[9, 10], [12, 12]], 12), all).runs, [[5, 10], [12, 12]]);
  assert.deepEqual(known.runs, [[2, 3], [5, 7]], "what was known is as it was");
});

test("an answer without anything new changes nothing", () => {
  const known = answer([[2, 3]], 8);
  assert.deepEqual(grown(known, answer([], 0), all), known);
});

test("frames that were dropped are dropped here, too", () => {
  const known = answer([[2, 3], [5, 9]], 9);
  assert.deepEqual(grown(known, answer([[10, 10]], 10, 7), all).runs, [[7, 10]]);
  assert.deepEqual(grown(known, answer([], 0, 10), all).runs, []);
  assert.deepEqual(grown(known, answer([[11, 12]], 12, 11), all).runs, [[11, 12]]);
});

test("the frames of an exchange are asked for anew", () => {
  const one = { ...all, exchange: "4" };
  assert.deepEqual(asked(one, answer([[5, 6]], 6)), one);
  assert.deepEqual(grown(answer([[5, 6]], 6), answer([[4, 7]], 7), one).runs, [[4, 7]]);
});
