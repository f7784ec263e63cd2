import assert from "node:assert/strict";
import { before, test } from "node:test";

let lib;
before(async () => {
  globalThis.location = { hash: "" };
  globalThis.addEventListener ??= () => {};
  lib = await import("../../../cmd/parley/internal/page/static/lib/route.js");
});

const at = (hash) => {
  globalThis.location.hash = hash;
  return lib.route();
};

test("a place is read from the address", () => {
  assert.deepEqual(at(""), { connection: null, view: "home", rest: [], params: {} });
  assert.deepEqual(at("#/compare"), { connection: null, view: "compare", rest: [], params: {} });
  assert.deepEqual(at("#/c1"), { connection: "c1", view: "overview", rest: [], params: {} });
  assert.deepEqual(at("#/c12/tools/echo?x=1&y=%3F"), { connection: "c12", view: "tools", rest: ["echo"], params: { x: "1", y: "?" } });
});

test("whatever a server calls its things, there is an address for it", () => {
  for (const name of ["a/b", "a?b", "a#b", "%", "%2F", "ä ö", "..", "?x=1", "\u202e", "javascript:alert(1)", "__proto__"]) {
    assert.deepEqual(at(lib.href(["c1", "tools", name], { q: name })), { connection: "c1", view: "tools", rest: [name], params: Object.fromEntries([["q", name]]) });
  }
});

test("what is not set is not in the address", () => {
  assert.equal(lib.href(["c1", "log"], { a: "", b: null, c: undefined, d: 0 }), "#/c1/log?d=0");
  assert.equal(lib.href("#/home"), "#/home");
  assert.equal(lib.href("home"), "#/home");
});

test("an address that is no good leads to what it says as it stands", () => {
  assert.deepEqual(at("#/c1/tools/%E0%A4%A").rest, ["%E0%A4%A"]);
});
