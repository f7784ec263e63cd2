import assert from "node:assert/strict";
import { before, test } from "node:test";

let lib;
before(async () => {
  const methods = {
    getItem: { value(key) { return Object.hasOwn(this, key) ? this[key] : null; } },
    setItem: { value(key, value) { this[key] = String(value); } },
    removeItem: { value(key) { delete this[key]; } },
  };
  globalThis.sessionStorage = Object.create({}, methods);
  lib = await import("../../../cmd/parley/internal/page/static/lib/state.js");
});

test("what was kept for a run is not found by another one", () => {
  lib.begin("one");
  lib.keep(lib.ofRun("call:c1:read"), "7");
  lib.keep("recent", ["shop"]);
  lib.begin("one");
  assert.equal(lib.kept(lib.ofRun("call:c1:read"), ""), "7");
  lib.begin("two");
  assert.equal(lib.kept(lib.ofRun("call:c1:read"), ""), "");
  lib.begin("one");
  assert.equal(lib.kept(lib.ofRun("call:c1:read"), ""), "", "it was forgotten");
  assert.deepEqual(lib.kept("recent", []), ["shop"]);
});
