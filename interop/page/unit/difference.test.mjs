import assert from "node:assert/strict";
import { test } from "node:test";

import { difference, parts } from "../../../cmd/parley/internal/page/static/console/difference.js";

test("equal lines stand side by side, and changed ones beside each other", () => {
  assert.deepEqual(difference("a\nb\nc\n", "a\nB\nc\n"), [["a", "a"], ["b", "B"], ["c", "c"]]);
  assert.deepEqual(difference("a\nc\n", "a\nb\nc\n"), [["a", "a"], [undefined, "b"], ["c", "c"]]);
  assert.deepEqual(difference("a\nb\nc\n", "c\n"), [["a", undefined], ["b", undefined], ["c", "c"]]);
  assert.deepEqual(difference("", "a\n"), [[undefined, "a"]]);
  assert.deepEqual(difference("x\na\ny\nb\n", "a\nz\nb\nw\n"), [["x", undefined], ["a", "a"], ["y", "z"], ["b", "b"], [undefined, "w"]]);
});

test("both sides are whole, whatever has changed", () => {
  const lines = (seed) => Array.from({ length: 300 }, (_, i) => `${(i * seed) % 17}`).join("\n") + "\n";
  const [before, after] = [lines(5), lines(11)];
  const pairs = difference(before, after);
  for (const [side, text] of [[0, before], [1, after]]) {
    assert.equal(pairs.map((pair) => pair[side]).filter((line) => line !== undefined).join("\n") + "\n", text);
  }
});

test("texts that are too long to compare are beside each other, soon", () => {
  const many = (word) => Array.from({ length: 5000 }, (_, i) => `${word}${i}`).join("\n");
  const began = performance.now();
  assert.equal(difference(many("a"), many("b")).length, 5000);
  assert.ok(performance.now() - began < 5000);
});

test("a line says where it has changed", () => {
  assert.deepEqual(parts("Pays.", "Pays. All of it."), { head: "Pays.", old: "", now: " All of it.", tail: "" });
  assert.deepEqual(parts("a😀b", "a😁b"), { head: "a", old: "😀", now: "😁", tail: "b" });
  assert.deepEqual(parts("aa", "aaa"), { head: "aa", old: "", now: "a", tail: "" });
});
