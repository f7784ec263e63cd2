// Elements for the tree that lib/markdown.js makes. Nothing is ever HTML.

import { parse } from "./markdown.js";
import { html, useMemo, useState } from "./preact.js";

const longest = 100_000; // characters
const mostBlocks = 1000;

/**
 * Markdown shows a text; Link and Words show what it links to and its words.
 * @param {{text: string, Link: Function, Words: Function}} props
 */
export function Markdown({ text, Link, Words }) {
  const [all, setAll] = useState(false);
  const cut = text.length > longest;
  const blocks = useMemo(() => parse(cut ? text.slice(0, longest) : text), [text]);
  const shown = all ? blocks : blocks.slice(0, mostBlocks);
  const as = { Link, Words };
  return html`<div class="markdown">
    ${shown.map((block) => blockOf(block, as))} ${shown.length < blocks.length && html`<button type="button" class="button plain more" onClick=${() => setAll(true)}>Show all ${blocks.length} parts</button>`}
    ${cut && html`<p class="hidden-note">Only the first ${longest.toLocaleString("en")} characters are shown as Markdown.</p>`}
  </div>`;
}

const blockOf = (block, as) => views[block.kind](block, as);

const views = {
  paragraph: ({ inline }, as) => html`<p>${inline.map((piece) => pieceOf(piece, as))}</p>`,
  // The page has headings of its own; those of a server stand below them.
  heading: ({ level, inline }, as) => html`<p class=${`h h${level}`} role="heading" aria-level=${Math.min(level + 3, 6)}>${inline.map((piece) => pieceOf(piece, as))}</p>`,
  code: ({ text }, { Words }) => html`<pre class="wire" tabindex="0"><code><${Words} text=${text} lines /></code></pre>`,
  rule: () => html`<hr />`,
  quote: ({ blocks }, as) => html`<blockquote>${blocks.map((block) => blockOf(block, as))}</blockquote>`,
  list: ({ start, items }, as) => {
    const entries = items.map((blocks) => html`<li>${blocks.map((block) => blockOf(block, as))}</li>`);
    return start === undefined ? html`<ul>${entries}</ul>` : html`<ol start=${start}>${entries}</ol>`;
  },
  table: ({ align, head, rows }, as) => {
    const cell = (tag) => (inline, column) => html`<${tag} class=${align[column] ? `to-${align[column]}` : undefined}>${inline.map((piece) => pieceOf(piece, as))}<//>`;
    return html`<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${head.map(cell("th"))}</tr></thead><tbody>${rows.map((row) => html`<tr>${row.map(cell("td"))}</tr>`)}</tbody></table></div>`;
  },
};

function pieceOf(piece, as) {
  const { Link, Words } = as;
  if (typeof piece === "string") return html`<${Words} text=${piece} lines />`;
  const inside = () => piece.inline.map((piece) => pieceOf(piece, as));
  switch (piece.kind) {
    case "code":
      return html`<code><${Words} text=${piece.text} lines /></code>`;
    case "strong":
      return html`<strong>${inside()}</strong>`;
    case "emphasis":
      return html`<em>${inside()}</em>`;
    case "strike":
      return html`<s>${inside()}</s>`;
    case "link":
      return html`<${Link} href=${piece.href}>${inside()}<//>`;
    default:
      return html`<br />`;
  }
}
