import assert from "node:assert/strict";
import { test } from "node:test";

import { act } from "../../../cmd/parley/internal/page/static/lib/keys.js";

const pressed = (...keys) => {
  const visited = [];
  const state = { afterG: false, visit: (letter) => visited.push(letter), onHelp: () => visited.push("help") };
  return { taken: keys.map((key) => act(key, state)), visited };
};

test("a letter after g belongs to it, whatever it is", () => {
  assert.deepEqual(pressed("g", "a"), { taken: [true, true], visited: ["a"] });
  assert.deepEqual(pressed("g", "D"), { taken: [true, true], visited: ["D"] });
  assert.deepEqual(pressed("g", "g", "a"), { taken: [true, true, true], visited: ["a"] });
  assert.deepEqual(pressed("g", "a", "a"), { taken: [true, true, false], visited: ["a"] });
});

test("what is no letter ends it", () => {
  assert.deepEqual(pressed("g", "Escape", "a"), { taken: [true, false, false], visited: [] });
  assert.deepEqual(pressed("g", "?"), { taken: [true, true], visited: ["help"] });
});
