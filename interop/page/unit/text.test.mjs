import assert from "node:assert/strict";
import { test } from "node:test";

import { asText, hasHidden, label, segments } from "../../../cmd/parley/internal/page/static/lib/text.js";

const marks = (text, options) => segments(text, options).filter(({ mark }) => mark !== undefined).map(({ mark }) => mark);

test("plain text has no marks", () => {
  for (const text of ["", "echo", "Grüß Gott", "日本語", "שלום", "مرحبا", "👩‍💻", "❤️", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "می‌خواهم", "क्षत्रिय"]) {
    assert.deepEqual(marks(text), [], text);
    assert.equal(label(text), text);
  }
});

test("what is not seen gets a mark", () => {
  for (const [text, mark] of [
    ["a\u202Eb", "⟨U+202E⟩"],
    ["a\u2066b", "⟨U+2066⟩"],
    ["a\u200Bb", "⟨U+200B⟩"],
    ["a\u200Db", "⟨U+200D⟩"],
    ["a\uFE0Fb", "⟨U+FE0F⟩"],
    ["a\u00ADb", "⟨U+00AD⟩"],
    ["a\uFEFFb", "⟨U+FEFF⟩"],
    ["a\u3164b", "⟨U+3164⟩"],
    ["a\u2028b", "⟨U+2028⟩"],
    ["a\uE000b", "⟨U+E000⟩"],
    ["a\uD800b", "⟨U+D800⟩"],
    ["a\u009Bb", "⟨U+009B⟩"],
    ["\u001B[31mred", "⟨U+001B⟩"],
    ["a\u0000b", "⟨U+0000⟩"],
    ["a\u0008b", "⟨U+0008⟩"],
    ["a\u007Fb", "⟨U+007F⟩"],
    [`a${String.fromCodePoint(...[..."obey"].map((c) => 0xe0000 + c.charCodeAt(0)))}b`, "⟨tags: obey⟩"],
    [`Z${"\u0301".repeat(40)}`, "\u0301".repeat(4) + "⟨36 more marks⟩"],
  ]) {
    assert.deepEqual(marks(text, { lines: true }), [mark], JSON.stringify(text));
    assert.ok(hasHidden(text));
    assert.ok(label(text).includes(mark));
  }
});

test("line breaks are text where there are lines, and marks in a label", () => {
  assert.deepEqual(marks("a\nb\tc\r\nd", { lines: true }), []);
  assert.equal(label("a\nb"), "a⟨U+000A⟩b");
  assert.deepEqual(marks("progress\rdone", { lines: true }), ["⟨U+000D⟩"]);
});

test("all pieces together are the text", () => {
  const text = "a\u202Eb\u200Bc";
  assert.equal(segments(text).map(({ text, mark }) => text ?? mark).join(""), "a⟨U+202E⟩b⟨U+200B⟩c");
});

test("a label is bounded, and says what it leaves out", () => {
  assert.equal(label("x".repeat(1000), 10), `${"x".repeat(9)}…`);
  assert.equal([...label("\u202E".repeat(100_000), 50)].length, 50);
  assert.equal(label("😀".repeat(8), 8), "😀".repeat(8));
});

test("marks without end are still few elements", () => {
  const pieces = segments("\u202E".repeat(1_000_000));
  assert.ok(pieces.length < 1000, `${pieces.length} pieces`);
  assert.ok(pieces.at(-1).text.startsWith("⟨U+202E⟩"));
});

test("a value that is no text is shown all the same", () => {
  assert.equal(asText(undefined), "");
  assert.equal(label({ toString: 1, __proto__: null }), '{"toString":1}');
  assert.equal(label(["<b>"]), '["<b>"]');
  assert.equal(label(12n), "12");
  const round = {};
  round.round = round;
  assert.equal(label(round), "(a value that has no text)");
});
