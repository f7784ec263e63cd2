// Markdown as a tree, for lib/content.js to make elements of: headings, lists, quotes,
// code, tables, emphasis and links. HTML is text, images are links, and there is nothing
// else. However a text is made, reading it takes time in proportion to its length.

const deepest = 12;
const longestParagraph = 20_000;

/**
 * parse returns the blocks of a text.
 *
 *   {kind: "heading", level, inline} · {kind: "paragraph", inline} · {kind: "code", text, language} · {kind: "rule"}
 *   {kind: "quote", blocks} · {kind: "list", start, items: [blocks]} · {kind: "table", align, head: [inline], rows: [[inline]]}
 *
 * inline is a list of texts and of {kind: "code", text}, {kind: "strong"|"emphasis"|"strike", inline},
 * {kind: "link", href, inline} and {kind: "break"}.
 * @param {string} text
 */
export function parse(text) {
  return blocksOf(text.replaceAll("\r\n", "\n").split("\n"), 0);
}

const fence = /^ {0,3}(`{3,}|~{3,})\s*([^`]{0,100})/;
const heading = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const rule = /^ {0,3}(?:\*[ \t]*){3,}$|^ {0,3}(?:-[ \t]*){3,}$|^ {0,3}(?:_[ \t]*){3,}$/;
const item = /^( {0,3})([-*+]|\d{1,9}[.)])(?:( {1,4}|\t)(.*))?$/;
const quote = /^ {0,3}> ?/;
const delimiters = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

function blocksOf(lines, depth) {
  const blocks = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    if (line.trim() === "") {
      at++;
    } else {
      const reader = depth < deepest ? (readers.find(({ begins }) => begins(lines, at)) ?? paragraph) : paragraph;
      const [block, next] = reader.read(lines, at, depth);
      blocks.push(block);
      at = next;
    }
  }
  return blocks;
}

const begins = (lines, at) => readers.some((reader) => reader.begins(lines, at));

const paragraph = {
  read(lines, at, depth) {
    let end = at + 1;
    while (end < lines.length && lines[end].trim() !== "" && !(depth < deepest && begins(lines, end))) end++;
    return [{ kind: "paragraph", inline: inlineOf(lines.slice(at, end).map((line) => line.trimStart()).join("\n"), 0) }, end];
  },
};

const readers = [
  {
    begins: (lines, at) => fence.test(lines[at]),
    read(lines, at) {
      const [, mark, language] = fence.exec(lines[at]);
      let end = at + 1;
      while (end < lines.length && !isFenceEnd(lines[end], mark)) end++;
      return [{ kind: "code", text: lines.slice(at + 1, end).join("\n"), language: language.trim() }, end + 1];
    },
  },
  {
    begins: (lines, at) => heading.test(lines[at]),
    read(lines, at) {
      const [, marks, text = ""] = heading.exec(lines[at]);
      return [{ kind: "heading", level: marks.length, inline: inlineOf(trimmedHeading(text), 0) }, at + 1];
    },
  },
  { begins: (lines, at) => lines[at].length < 200 && rule.test(lines[at]), read: (_, at) => [{ kind: "rule" }, at + 1] },
  {
    begins: (lines, at) => quote.test(lines[at]),
    read(lines, at, depth) {
      let end = at;
      while (end < lines.length && quote.test(lines[end])) end++;
      const inside = lines.slice(at, end).map((line) => line.replace(quote, ""));
      return [{ kind: "quote", blocks: blocksOf(inside, depth + 1) }, end];
    },
  },
  { begins: (lines, at) => item.test(lines[at]), read: list },
  {
    begins: (lines, at) => lines[at].includes("|") && lines[at + 1]?.includes("-") && lines[at + 1].length < 2000 && delimiters.test(lines[at + 1]),
    read: table,
  },
];

function isFenceEnd(line, mark) {
  const end = line.trim();
  return end.length >= mark.length && end.length < 200 && [...end].every((character) => character === mark[0]);
}

function trimmedHeading(text) {
  const trimmed = text.trim();
  const end = trimmed.length - (/#*$/.exec(trimmed.slice(-20))?.[0].length ?? 0);
  return end === 0 || trimmed[end - 1] === " " ? trimmed.slice(0, end).trim() : trimmed;
}

function list(lines, at, depth) {
  const first = item.exec(lines[at]);
  const numbered = /\d/.test(first[2]);
  const items = [];
  while (at < lines.length) {
    const match = item.exec(lines[at]);
    if (!match || /\d/.test(match[2]) !== numbered) break;
    const indent = match[1].length + match[2].length + (match[3]?.length ?? 1);
    const inside = [match[4] ?? ""];
    at++;
    while (at < lines.length && belongs(lines, at, indent)) inside.push(lines[at++].replace(new RegExp(`^ {0,${indent}}`), ""));
    items.push(blocksOf(inside, depth + 1));
  }
  return [{ kind: "list", start: numbered ? Number.parseInt(first[2], 10) : undefined, items }, at];
}

// A line belongs to an item if it is indented, or goes on with its paragraph.
function belongs(lines, at, indent) {
  const line = lines[at];
  if (line.trim() === "") return at + 1 < lines.length && (/^ {2,}/.test(lines[at + 1]) || lines[at + 1].trim() === "" || item.test(lines[at + 1]));
  if (line.slice(0, Math.min(indent, 2)).trim() === "" && line.length > 2) return true;
  return lines[at - 1].trim() !== "" && !begins(lines, at);
}

function table(lines, at) {
  const align = cellsOf(lines[at + 1]).map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "end") : undefined));
  const row = (line) => align.map((_, column) => inlineOf(cellsOf(line)[column] ?? "", 0));
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|")) end++;
  return [{ kind: "table", align, head: row(lines[at]), rows: lines.slice(at + 2, end).map(row) }, end];
}

const mostCells = 50;

const cellsOf = (line) => {
  const cells = line.trim().replace(/^\|/, "").split(/(?<!\\)\|/, mostCells + 1);
  if (cells.length > 1 && cells.at(-1).trim() === "") cells.pop();
  return cells.slice(0, mostCells).map((cell) => cell.trim().replaceAll("\\|", "|"));
};

/** inlineOf returns the pieces of a paragraph; exported for tests. */
export function inlineOf(text, depth) {
  if (depth >= deepest || text.length > longestParagraph) return text === "" ? [] : [text];
  return new Inline(text, depth).read();
}

const special = /[\\`*_~[!<\n]|https?:\/\//g;
const punctuation = /[!-/:-@[-`{-~]/;

class Inline {
  constructor(text, depth) {
    Object.assign(this, { text, depth, at: 0, plain: "", pieces: [], absent: new Set(), brackets: undefined });
  }

  read() {
    while (this.at < this.text.length) {
      special.lastIndex = this.at;
      const next = special.exec(this.text)?.index ?? this.text.length;
      this.plain += this.text.slice(this.at, next);
      this.at = next;
      if (next < this.text.length && !this.piece()) this.plain += this.text[this.at++];
    }
    this.flush();
    return this.pieces;
  }

  flush() {
    if (this.plain !== "") this.pieces.push(this.plain);
    this.plain = "";
  }

  push(piece, end) {
    this.flush();
    this.pieces.push(piece);
    this.at = end;
    return true;
  }

  inside(from, to) {
    return inlineOf(this.text.slice(from, to), this.depth + 1);
  }

  /** find is indexOf, which is not asked twice for what is not there. */
  find(what, from) {
    if (this.absent.has(what)) return -1;
    const at = this.text.indexOf(what, from);
    if (at < 0) this.absent.add(what);
    return at;
  }

  piece() {
    const { text, at } = this;
    switch (text[at]) {
      case "\\":
        return this.escape();
      case "`":
        return this.code();
      case "*":
      case "_":
        return this.emphasis(text[at]);
      case "~":
        return text[at + 1] === "~" && this.between("~~", "strike");
      case "!":
        return text[at + 1] === "[" && this.link(at + 1);
      case "[":
        return this.link(at);
      case "<":
        return this.angle();
      case "\n":
        return this.hardBreak();
      default:
        return this.bare();
    }
  }

  hardBreak() {
    if (!/ {2}$|\\$/.test(this.text.slice(Math.max(0, this.at - 2), this.at))) return false;
    this.plain = this.plain.trimEnd().replace(/\\$/, "");
    return this.push({ kind: "break" }, this.at + 1);
  }

  escape() {
    const next = this.text[this.at + 1] ?? "";
    if (!punctuation.test(next)) return false;
    this.plain += next;
    this.at += 2;
    return true;
  }

  code() {
    let length = 1;
    while (this.text[this.at + length] === "`") length++;
    const mark = "`".repeat(length);
    const end = length < 20 ? this.find(mark, this.at + length) : -1;
    if (end < 0) {
      this.plain += mark;
      this.at += length;
      return true;
    }
    const inside = this.text.slice(this.at + length, end);
    return this.push({ kind: "code", text: inside.length > 2 && inside.startsWith(" ") && inside.endsWith(" ") ? inside.slice(1, -1) : inside }, end + length);
  }

  emphasis(mark) {
    const { text, at } = this;
    // An underscore inside of a word is part of the word, as in snake_case.
    if (mark === "_" && /[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, at - 2), at))) return false;
    return text[at + 1] === mark ? this.between(mark + mark, "strong") : this.between(mark, "emphasis");
  }

  between(mark, kind) {
    const from = this.at + mark.length;
    if (/\s/.test(this.text[from] ?? " ")) return false;
    let end = this.find(mark, from);
    // A single mark is not the half of a double one.
    while (mark.length === 1 && end >= 0 && this.text[end + 1] === mark) end = this.find(mark, end + 2);
    if (end <= from || /\s/.test(this.text[end - 1])) return false;
    if (mark[0] === "_" && /^[\p{L}\p{N}]/u.test(this.text.slice(end + mark.length, end + mark.length + 2))) return false;
    return this.push({ kind, inline: this.inside(from, end) }, end + mark.length);
  }

  link(open) {
    this.brackets ??= matching(this.text);
    const close = this.brackets.get(open);
    if (close === undefined || this.text[close + 1] !== "(") return false;
    const target = /^\(\s*(?:<([^<>\n]{0,2000})>|([^\s()<>]{0,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?))(?:\s+(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'))?\s*\)/.exec(this.text.slice(close + 1, close + 4000));
    if (!target) return false;
    return this.push({ kind: "link", href: target[1] ?? target[2], inline: this.inside(open + 1, close) }, close + 1 + target[0].length);
  }

  angle() {
    const match = /^<(https?:\/\/[^\s<>]{1,2000})>/.exec(this.text.slice(this.at, this.at + 2100));
    return match ? this.push({ kind: "link", href: match[1], inline: [match[1]] }, this.at + match[0].length) : false;
  }

  bare() {
    const [match] = /^https?:\/\/[^\s<>"'`|\\^{}]{1,2000}/.exec(this.text.slice(this.at, this.at + 2100)) ?? [];
    if (!match) return false;
    const href = match.replace(/[.,:;!?)\]*_~]{1,20}$/, "");
    return this.push({ kind: "link", href, inline: [href] }, this.at + href.length);
  }
}

/** matching returns where the brackets close that open at a place. */
function matching(text) {
  const open = [];
  const pairs = new Map();
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "[") open.push(at);
    else if (text[at] === "]" && open.length > 0) pairs.set(open.pop(), at);
  }
  return pairs;
}
