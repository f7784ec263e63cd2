import assert from "node:assert/strict";
import { test } from "node:test";

import { marked } from "../../../cmd/parley/internal/page/static/inspect/traffic/numbers.js";

test("a mark stands before the frame after it", () => {
  assert.deepEqual(marked([[1, 9]], [4.5]), [[1, 4], [4.5, 4.5], [5, 9]]);
  assert.deepEqual(marked([[1, 4], [5, 9]], [4.5]), [[1, 4], [4.5, 4.5], [5, 9]]);
  assert.deepEqual(marked([[1, 2], [7, 9]], [4.5]), [[1, 2], [4.5, 4.5], [7, 9]]);
  assert.deepEqual(marked([[5, 5]], [4.5]), [[4.5, 4.5], [5, 5]]);
  assert.deepEqual(marked([[1, 9]], [4.5, 8.5]), [[1, 4], [4.5, 4.5], [5, 8], [8.5, 8.5], [9, 9]]);
});

test("where nothing was found after it, there is no mark", () => {
  assert.deepEqual(marked([[1, 4]], [4.5]), [[1, 4]]);
  assert.deepEqual(marked([], [4.5]), []);
  assert.deepEqual(marked([[1, 4]], []), [[1, 4]]);
  assert.deepEqual(marked([[7, 9]], [4.5, 5.5]), [[4.5, 4.5], [5.5, 5.5], [7, 9]]);
});
