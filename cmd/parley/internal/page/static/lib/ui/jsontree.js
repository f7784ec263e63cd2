// A JSON value as a tree that opens. Everything in it is text.

import { Exact, stringify } from "../json.js";
import { html, useState } from "../preact.js";
import { Button } from "./controls.js";
import { Copy } from "./show.js";

const step = 100; // members that are shown at a time
const longest = 2000; // characters of a string that are shown at first
// Control characters, and those that hide or turn text around, are shown as JSON escapes.
const hidden = /[\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\p{Cs}|[\u{e0000}-\u{e0fff}]/gu;

/** quote writes a string as JSON in which every character can be seen. */
export function quote(text) {
  return JSON.stringify(text).replace(hidden, (c) => [...Array(c.length).keys()].map((i) => `\\u${c.charCodeAt(i).toString(16).padStart(4, "0")}`).join(""));
}

/**
 * Json shows a value of lib/json.js.
 * @param {{value: unknown, open?: number, label?: string, copy?: boolean}} props open is how many levels are open at first
 */
export function Json({ value, open = 2, label = "JSON", copy = true }) {
  return html`<div class="json-tree" role="group" aria-label=${label} tabindex="0">
    ${copy && html`<div class="json-copy"><${Copy} text=${() => stringify(value, 2)} /></div>`}
    <${Node} value=${value} open=${open} />
  </div>`;
}

function Node({ name, value, open, last = true }) {
  const composite = value !== null && typeof value === "object" && !(value instanceof Exact);
  const key = name === undefined ? null : html`<span class="json-key">${typeof name === "number" ? name : quote(name)}</span>: `;
  if (!composite) return html`<div class="json-row">${key}<${Leaf} value=${value} />${last ? "" : ","}</div>`;
  return html`<${Branch} keyPart=${key} name=${name} value=${value} open=${open} last=${last} />`;
}

function Branch({ keyPart, name, value, open, last }) {
  const [shown, setShown] = useState(open > 0);
  const [most, setMost] = useState(step);
  const isArray = Array.isArray(value);
  const names = isArray ? null : Object.keys(value);
  const count = isArray ? value.length : names.length;
  const [begin, end] = isArray ? ["[", "]"] : ["{", "}"];
  if (count === 0) return html`<div class="json-row">${keyPart}${begin}${end}${last ? "" : ","}</div>`;
  const summary = `${count} ${isArray ? (count === 1 ? "element" : "elements") : count === 1 ? "member" : "members"}`;
  return html`<div class="json-row">
    <button type="button" class="json-toggle" aria-expanded=${shown ? "true" : "false"} aria-label=${`${name === undefined ? "" : `${name}: `}${summary}`} onClick=${() => setShown(!shown)}>${shown ? "▾" : "▸"}</button>
    ${keyPart}${begin}${!shown && html`<span class="faint"> ${summary} </span>${end}${last ? "" : ","}`}
    ${shown &&
    html`<div class="json-inner">
        ${Array.from({ length: Math.min(count, most) }, (_, i) => {
          const key = isArray ? i : names[i];
          return html`<${Node} key=${key} name=${isArray ? undefined : key} value=${value[key]} open=${open - 1} last=${i === count - 1} />`;
        })}
        ${count > most && html`<${Button} kind="link" onClick=${() => setMost(most + 10 * step)}>${`Show more (${count - most} are left)`}<//>`}
      </div>
      ${end}${last ? "" : ","}`}
  </div>`;
}

function Leaf({ value }) {
  const [whole, setWhole] = useState(false);
  if (typeof value !== "string") return html`<span class=${`json-${value === null ? "null" : value instanceof Exact ? "number" : typeof value}`}>${String(value)}</span>`;
  if (value.length <= longest || whole) return html`<span class="json-string">${quote(value)}</span>`;
  return html`<span class="json-string">${quote(value.slice(0, longest))}…</span> <${Button} kind="link" onClick=${() => setWhole(true)}>${`Show all ${value.length} characters`}<//>`;
}
