import assert from "node:assert/strict";
import { test } from "node:test";

import { bytesOf, dataOf, linkOf } from "../../../cmd/parley/internal/page/static/lib/links.js";

const own = "http://127.0.0.1:7777";

test("http and https are followed", () => {
  assert.deepEqual(linkOf("https://example.com/a?b#c", own), { url: "https://example.com/a?b#c", host: "example.com" });
  assert.deepEqual(linkOf("HTTP://Example.com:8080", own), { url: "http://example.com:8080/", host: "example.com:8080" });
  assert.equal(linkOf("https://аррӏе.com/", own).host, "xn--80ak6aa92e.com");
});

test("nothing else is", () => {
  for (const href of [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "java\tscript:alert(1)",
    "\u0001javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "blob:http://127.0.0.1:7777/x",
    "file:///etc/passwd",
    "about:blank",
    "intent://x#Intent;end",
    "ui://a/b",
    "//example.com",
    "/api/v1/",
    "#/c1/tools",
    "",
    "https://bank.example@evil.example/",
    "https://a\u202Eb.example/",
    "http://127.0.0.1:7777/#/c1",
    null,
    {},
    ["https://example.com"],
  ]) {
    const { url, why } = linkOf(href, own);
    assert.equal(url, undefined, JSON.stringify(href));
    assert.ok(why, JSON.stringify(href));
  }
});

test("data of images and sounds", () => {
  assert.deepEqual(dataOf("image", "image/png", "AAAA"), { url: "data:image/png;base64,AAAA", bytes: 3 });
  assert.deepEqual(dataOf("image", "Image/SVG+XML; charset=utf-8", "AAA="), { url: "data:image/svg+xml;base64,AAA=", bytes: 2 });
  assert.equal(dataOf("audio", "audio/wav", "AA==").bytes, 1);
  for (const [kind, type, data] of [
    ["image", "text/html", "AAAA"],
    ["image", "image/png,<script>", "AAAA"],
    ["image", "image/", "AAAA"],
    ["image", undefined, "AAAA"],
    ["image", "audio/wav", "AAAA"],
    ["image", "image/png", ""],
    ["image", "image/png", "AAA"],
    ["image", "image/png", "https://example.com/x.png"],
    ["image", "image/png", "AAAA\n"],
    ["image", "image/png", undefined],
    ["audio", "image/png", "AAAA"],
  ]) {
    assert.ok(dataOf(kind, type, data).why, `${kind} ${type} ${data}`);
  }
  assert.equal(bytesOf(""), 0);
});
