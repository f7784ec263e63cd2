// Whatever servers put into results, shown: nothing here becomes HTML, nothing loads
// anything from elsewhere, and what is long or large is cut until somebody asks for more.

import { numberOf, parse as parseJSON } from "./json.js";
import { dataOf, isBase64, bytesOf, linkOf } from "./links.js";
import { Markdown } from "./markdown-view.js";
import { html, useMemo, useState } from "./preact.js";
import { href } from "./route.js";
import { asText, hasHidden, label, segments } from "./text.js";
import { Json } from "./ui.js";

export { label, hasHidden };

const longText = 20_000; // characters
const longJSON = 2_000_000;
const largeMedia = 4 << 20; // bytes
const manyBlocks = 200;

/** Marked shows a text with marks in place of what would not be seen. With lines, line breaks stay. */
export function Marked({ text, lines = false }) {
  const pieces = useMemo(() => segments(text, { lines }), [text, lines]);
  return html`<bdi>${pieces.map(({ text, mark, about }) => (mark === undefined ? text : html`<span class="mark" title=${about}>${mark}</span>`))}</bdi>`;
}

/**
 * SafeLink shows a link of a server's and where it goes. Nothing is fetched before
 * somebody clicks, and what is neither http nor https is text.
 */
export function SafeLink({ href, children }) {
  const { url, host, why } = linkOf(href);
  const shown = children ?? label(href, 300);
  if (!url) {
    return html`<span class="dead-link" title=${`Not a link: ${why}`}>${shown}${children && html` <code>${label(href, 300)}</code>`}</span>`;
  }
  return html`<a class="server-link" href=${url} title=${label(url, 1000)} target="_blank" rel="noopener noreferrer nofollow" referrerpolicy="no-referrer">${shown}<span class="host"> ↗ ${label(host)}</span></a>`;
}

/** Cut shows the beginning of a text, and all of it on demand. */
export function Cut({ text, most = longText, mono = true }) {
  const [all, setAll] = useState(false);
  const whole = asText(text);
  const cut = !all && whole.length > most;
  return html`<pre class=${mono ? "wire" : "prose"} tabindex="0"><${Marked} text=${cut ? whole.slice(0, most) : whole} lines /></pre>
    ${cut && html`<button type="button" class="button plain more" onClick=${() => setAll(true)}>Show all ${whole.length.toLocaleString("en")} characters</button>`}`;
}

/** Text shows a text as it is, as JSON if it is that, and as Markdown on demand. */
export function Text({ text, mimeType }) {
  const whole = asText(text);
  const json = useMemo(() => jsonOf(whole), [whole]);
  const ways = ["Text", ...(json ? ["JSON"] : []), ...(looksLikeMarkdown(whole) || isMarkdown(mimeType) ? ["Markdown"] : [])];
  const [way, setWay] = useState(json ? "JSON" : "Text");
  const shown = ways.includes(way) ? way : "Text";
  return html`<div class="text-content">
    ${ways.length > 1 &&
    html`<div class="ways" role="group" aria-label="Show as">
      ${ways.map((name) => html`<button type="button" class="button plain" aria-pressed=${String(name === shown)} onClick=${() => setWay(name)}>${name}</button>`)}
    </div>`}
    ${shown === "JSON" && html`<${Json} value=${json.value} />`} ${shown === "Markdown" && html`<${Markdown} text=${whole} Link=${SafeLink} Words=${Marked} />`}
    ${shown === "Text" && html`<${Cut} text=${whole} />`}
    ${shown !== "Text" && hasHidden(whole.slice(0, longText)) && html`<p class="hidden-note">This text has characters that are not seen; look at it as Text.</p>`}
  </div>`;
}

function jsonOf(text) {
  if (text.length > longJSON || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return { value: parseJSON(text) };
  } catch {
    return undefined;
  }
}

const essence = (mimeType) => (typeof mimeType === "string" ? mimeType.split(";")[0].trim().toLowerCase() : "");
const isMarkdown = (mimeType) => ["text/markdown", "text/x-markdown"].includes(essence(mimeType));
const looksLikeMarkdown = (text) => /^ {0,3}(#{1,6} |[-*+] |\d+[.)] |> |```|~~~)|\*\*|\]\(|`[^`\n]+`|^\|.*\|$/m.test(text.slice(0, longText));

/** Media shows an image or a sound: from its own data, never from an address. SVG is an image, too, so nothing in it runs. */
export function Media({ kind, mimeType, data, name }) {
  const [failed, setFailed] = useState(false);
  const [asked, setAsked] = useState(false);
  const { url, bytes, why } = useMemo(() => dataOf(kind, mimeType, data), [kind, mimeType, data]);
  const what = kind === "image" ? "image" : "sound";
  if (why) return html`<p class="broken">This ${what} cannot be shown: ${why}. <code>${label(mimeType, 80)}</code></p><${Binary} data=${data} name=${name} mimeType=${mimeType} />`;
  if (bytes > largeMedia && !asked) return html`<button type="button" class="button plain more" onClick=${() => setAsked(true)}>Show ${what} of ${size(bytes)}</button>`;
  const fail = () => setFailed(true);
  return html`<figure class="media">
    ${failed && html`<p class="broken">The browser cannot show this ${what}.</p>`}
    ${!failed && kind === "image" && html`<img src=${url} alt=${name ? label(name) : `Image of type ${label(mimeType, 80)}`} decoding="async" onError=${fail} />`}
    ${!failed && kind === "audio" && html`<audio controls preload="metadata" src=${url} aria-label=${name ? label(name) : "Sound"} onError=${fail}></audio>`}
    <figcaption>${label(mimeType, 80)} · ${size(bytes)}</figcaption>
  </figure>`;
}

/** size returns a number of bytes for people. */
export function size(value) {
  const bytes = numberOf(value);
  if (!(bytes >= 0)) return label(value, 40);
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}

/** Binary shows the first bytes of data in base64, and has it saved. */
export function Binary({ data, mimeType, name }) {
  if (typeof data !== "string" || !isBase64(data)) return html`<${Cut} text=${data} />`;
  return html`<div class="binary">
    <pre class="wire" tabindex="0">${hexOf(data)}</pre>
    <p>${size(bytesOf(data))} of ${label(mimeType ?? "application/octet-stream", 80)} <button type="button" class="button plain more" onClick=${() => save(data, name)}>Save</button></p>
  </div>`;
}

function hexOf(data) {
  const bytes = Uint8Array.from(atob(data.slice(0, 344)), (character) => character.charCodeAt(0)); // 256 bytes
  const lines = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.slice(at, at + 16)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("")}`);
  }
  return lines.join("\n") + (bytesOf(data) > bytes.length ? "\n…" : "");
}

// Saved under a name that says nothing of its type, so that nothing opens it by itself.
function save(data, name) {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  link.download = `${label(name ?? "resource", 60).replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^\.+/, "")}.bin`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Contents shows what a resource holds: one entry of resources/read, or an embedded resource. */
export function Contents({ contents }) {
  const { uri, mimeType, text, blob } = contents && typeof contents === "object" ? contents : {};
  const type = essence(mimeType);
  const kind = ["image", "audio"].find((kind) => type.startsWith(`${kind}/`));
  return html`<div class="resource-contents">
    <p class="about"><code>${label(uri, 300)}</code> ${mimeType !== undefined && html`<span class="badge">${label(mimeType, 80)}</span>`}</p>
    ${text !== undefined && html`<${Text} text=${text} mimeType=${mimeType} />`} ${text !== undefined && type === "image/svg+xml" && html`<${Drawing} svg=${asText(text)} />`}
    ${blob !== undefined && (kind ? html`<${Media} kind=${kind} mimeType=${mimeType} data=${blob} name=${uri} />` : html`<${Blob64} data=${blob} mimeType=${mimeType} name=${uri} />`)}
    ${text === undefined && blob === undefined && html`<${Json} value=${contents} />`} <${About} of=${contents} />
  </div>`;
}

function Drawing({ svg }) {
  const data = useMemo(() => btoa(Array.from(new TextEncoder().encode(svg.slice(0, largeMedia)), (byte) => String.fromCharCode(byte)).join("")), [svg]);
  return html`<${Media} kind="image" mimeType="image/svg+xml" data=${data} name="The drawing" />`;
}

// Bytes whose type says that they are text are shown as text.
function Blob64({ data, mimeType, name }) {
  const text = useMemo(() => (/^text\/|[/+](json|xml|yaml)$/.test(essence(mimeType)) ? decoded(data) : undefined), [data, mimeType]);
  return text === undefined ? html`<${Binary} data=${data} mimeType=${mimeType} name=${name} />` : html`<${Text} text=${text} mimeType=${mimeType} />`;
}

function decoded(data) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(atob(data), (character) => character.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

/** About shows the annotations and the _meta of whatever has them. */
export function About({ of }) {
  const { annotations, _meta } = of ?? {};
  const known = annotations && typeof annotations === "object" ? Object.entries(annotations) : [];
  return html`${known.length > 0 && html`<p class="annotations">${known.slice(0, 20).map(([key, value]) => html`<span class="badge">${label(key, 40)}: ${label(Array.isArray(value) ? value.map(asText).join(", ") : value, 80)}</span> `)}</p>`}
  ${_meta !== undefined && html`<details class="meta"><summary>_meta</summary><${Json} value=${_meta} /></details>`}`;
}

function ResourceLink({ block, connection }) {
  return html`<div class="resource-link">
    <p><strong>${label(block.title ?? block.name ?? block.uri)}</strong> ${block.mimeType !== undefined && html`<span class="badge">${label(block.mimeType, 80)}</span>`} ${block.size !== undefined && html`<span class="badge">${size(block.size)}</span>`}</p>
    ${block.description !== undefined && html`<${Cut} text=${block.description} most=${2000} mono=${false} />`}
    <p><${SafeLink} href=${block.uri} />${connection && html` <a href=${href([connection.id ?? connection, "resources"], { uri: asText(block.uri) })}>Read it from this server</a>`}</p>
    <${About} of=${block} />
  </div>`;
}

function ToolUse({ block }) {
  return html`<p>Calls <strong>${label(block.name)}</strong> <code>${label(block.id, 80)}</code></p><${Json} value=${block.input} /><${About} of=${block} />`;
}

function ToolResult({ block, connection, depth }) {
  return html`<p>Result for <code>${label(block.toolUseId, 80)}</code> ${block.isError === true && html`<span class="badge">error</span>`}</p>
    <${Blocks} blocks=${block.content} connection=${connection} depth=${depth + 1} />${block.structuredContent !== undefined && html`<${Json} value=${block.structuredContent} />`}<${About} of=${block} />`;
}

const shows = new Map([
  ["text", ({ block }) => html`<${Text} text=${block.text} /><${About} of=${block} />`],
  ["image", ({ block }) => html`<${Media} kind="image" mimeType=${block.mimeType} data=${block.data} /><${About} of=${block} />`],
  ["audio", ({ block }) => html`<${Media} kind="audio" mimeType=${block.mimeType} data=${block.data} /><${About} of=${block} />`],
  ["resource_link", ResourceLink],
  ["resource", ({ block }) => html`<${Contents} contents=${block.resource} /><${About} of=${block} />`],
  ["tool_use", ToolUse],
  ["tool_result", ToolResult],
]);

/**
 * Content shows one block of content, of any revision. A kind that is not known is shown
 * as JSON.
 * @param {{block: any, connection?: string|{id: string}, depth?: number}} props
 */
export function Content({ block, connection, depth = 0 }) {
  const type = block !== null && typeof block === "object" ? block.type : undefined;
  const Shown = depth < 4 ? shows.get(type) : undefined;
  return html`<div class="content-block">
    ${Shown ? html`<${Shown} block=${block} connection=${connection} depth=${depth} />` : html`<p class="about">A block of the kind <code>${label(type ?? "none", 80)}</code></p><${Json} value=${block} />`}
  </div>`;
}

/** Blocks shows the content of a result or message: a list of blocks, or one. */
export function Blocks({ blocks, connection, depth = 0 }) {
  const [all, setAll] = useState(false);
  const list = Array.isArray(blocks) ? blocks : blocks === undefined || blocks === null ? [] : [blocks];
  return html`${list.slice(0, all ? undefined : manyBlocks).map((block) => html`<${Content} block=${block} connection=${connection} depth=${depth} />`)}
  ${!all && list.length > manyBlocks && html`<button type="button" class="button plain more" onClick=${() => setAll(true)}>Show all ${list.length} blocks</button>`}`;
}
