import assert from "node:assert/strict";
import { test } from "node:test";

import { inlineOf, parse } from "../../../cmd/parley/internal/page/static/lib/markdown.js";

const link = (href, ...inline) => ({ kind: "link", href, inline });

test("blocks", () => {
  assert.deepEqual(parse("# One #\n\ntext\nmore\n***\n> quoted\n> # in it\n"), [
    { kind: "heading", level: 1, inline: ["One"] },
    { kind: "paragraph", inline: ["text\nmore"] },
    { kind: "rule" },
    { kind: "quote", blocks: [{ kind: "paragraph", inline: ["quoted"] }, { kind: "heading", level: 1, inline: ["in it"] }] },
  ]);
});

test("code", () => {
  assert.deepEqual(parse("```js\n<script>\n\n# no\n```\nafter"), [
    { kind: "code", text: "<script>\n\n# no", language: "js" },
    { kind: "paragraph", inline: ["after"] },
  ]);
  assert.deepEqual(parse("~~~\nopen"), [{ kind: "code", text: "open", language: "" }]);
});

test("lists", () => {
  const text = (...inline) => [{ kind: "paragraph", inline }];
  assert.deepEqual(parse("- a\n- b\n  more\n"), [{ kind: "list", start: undefined, items: [text("a"), text("b\nmore")] }]);
  assert.deepEqual(parse("3. a\n4. b"), [{ kind: "list", start: 3, items: [text("a"), text("b")] }]);
  assert.deepEqual(parse("- a\n  - b\n- c"), [
    { kind: "list", start: undefined, items: [[...text("a"), { kind: "list", start: undefined, items: [text("b")] }], text("c")] },
  ]);
});

test("tables", () => {
  assert.deepEqual(parse("| a | b |\n|---|--:|\n| 1 | 2 |\n| x \\| y |\n\nend"), [
    { kind: "table", align: [undefined, "end"], head: [["a"], ["b"]], rows: [[["1"], ["2"]], [["x | y"], []]] },
    { kind: "paragraph", inline: ["end"] },
  ]);
});

test("inline", () => {
  for (const [text, ...want] of [
    ["a **b** *c* ~~d~~ `e*f*`", "a ", { kind: "strong", inline: ["b"] }, " ", { kind: "emphasis", inline: ["c"] }, " ", { kind: "strike", inline: ["d"] }, " ", { kind: "code", text: "e*f*" }],
    ["snake_case_name and _em_", "snake_case_name and ", { kind: "emphasis", inline: ["em"] }],
    ["2 * 3 * 4", "2 * 3 * 4"],
    ["\\*no\\*", "*no*"],
    ["[a](https://x.example \"t\")", link("https://x.example", "a")],
    ["[a](<b c>)", link("b c", "a")],
    ["[a](javascript:alert(1))", link("javascript:alert(1)", "a")],
    ["![img](https://x.example/p.png)", link("https://x.example/p.png", "img")],
    ["<https://x.example>", link("https://x.example", "https://x.example")],
    ["see https://x.example/a.", "see ", link("https://x.example/a", "https://x.example/a"), "."],
    ["<script>alert(1)</script>", "<script>alert(1)</script>"],
    ["<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"],
    ["a  \nb", "a", { kind: "break" }, "b"],
    ["a\\\nb", "a", { kind: "break" }, "b"],
    ["[unclosed](x", "[unclosed](x"],
    ["``a`b``", { kind: "code", text: "a`b" }],
  ]) {
    assert.deepEqual(inlineOf(text, 0), want, text);
  }
});

test("an image is a link, its exclamation mark is not lost elsewhere", () => {
  assert.deepEqual(inlineOf("wow! [a](https://x.example)", 0), ["wow! ", link("https://x.example", "a")]);
});

// Texts that are made to take long.
test("hostile texts take no time", () => {
  const n = 50_000;
  for (const piece of ["[", "](", "*", "**a ", "_a ", "`", "``a ", "> ", ">", "- ", "  - ", "1. ", "#", "|", "|-", "~~", "<", "![", "[a](", "a\n\n", "\\", "```\n", "https://", "(", "- a\n", "* * ", "\n|-|\n|", " \n", "*a**b"]) {
    const began = performance.now();
    parse(piece.repeat(n));
    parse(`${piece}\n`.repeat(n / 10));
    const took = performance.now() - began;
    assert.ok(took < 5000, `${JSON.stringify(piece)} takes ${took.toFixed(0)} ms`);
  }
});

test("nesting ends", () => {
  const depth = (blocks) => 1 + Math.max(0, ...blocks.map(({ blocks = [], items = [] }) => Math.max(0, ...[blocks, ...items].filter((inner) => inner.length > 0).map(depth))));
  assert.ok(depth(parse("> ".repeat(10_000) + "x")) < 20);
  assert.ok(depth(parse(Array.from({ length: 500 }, (_, at) => `${"  ".repeat(at)}- x`).join("\n"))) < 20);
});
