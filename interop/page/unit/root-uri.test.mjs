import assert from "node:assert/strict";
import { test } from "node:test";

import { sameRoot, uriOf } from "../../../cmd/parley/internal/page/static/inspect/root-uri.js";

test("a whole path is a file URI, and a URI stays as it is", () => {
  assert.deepEqual(uriOf("/home/me/a b"), { uri: "file:///home/me/a%20b" });
  assert.deepEqual(uriOf("C:\\work"), { uri: "file:///C:/work" });
  assert.deepEqual(uriOf("file:///x"), { uri: "file:///x" });
});

test("what is no whole path is refused", () => {
  for (const text of ["relative/path", "~/notes", "~ada", "notes", "C:notes", "."]) assert.ok(uriOf(text).wrong, text);
});

test("a slash at the end makes no other folder", () => {
  assert.ok(sameRoot("file:///a/", "file:///a"));
  assert.ok(!sameRoot("file:///a", "file:///b"));
});
