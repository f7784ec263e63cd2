// All messages between an app and the page, both ways, with what was refused and why.

import { label } from "../../lib/content.js";
import { stringify } from "../../lib/json.js";
import { html, useState } from "../../lib/preact.js";
import { Badge, Copy, Json } from "../../lib/ui.js";

const shown = 100;

/** Log shows the last messages, newest first. */
export function Log({ notes, count }) {
  const [open, setOpen] = useState(0);
  const list = notes.slice(-shown).reverse();
  return html`<div class="row"><${Copy} text=${() => notes.map((note) => stringify(note)).join("\n")} label="Copy as JSON lines" />${count > list.length && html`<span class="faint">The last ${list.length} of ${count} are shown, and the last ${notes.length} kept.</span>`}</div>
    <table>
      <thead>
        <tr><th>Number</th><th>From</th><th>Message</th><th>Refused</th></tr>
      </thead>
      <tbody>
        ${list.map(
          (note) => html`<tr key=${note.number}>
            <td class="number">${note.number}</td>
            <td>${note.from === "app" ? "app" : "page"}</td>
            <td>
              <button type="button" class="button link" aria-expanded=${String(open === note.number)} onClick=${() => setOpen(open === note.number ? 0 : note.number)}>${titleOf(note)}</button>
              ${open === note.number && html`<${Json} value=${note.message ?? null} />`}
            </td>
            <td>${note.refused && html`<${Badge} kind="error">${label(note.refused)}<//>`}</td>
          </tr>`,
        )}
      </tbody>
    </table>`;
}

function titleOf({ message }) {
  if (message === undefined) return "(not a message)";
  const id = message.id === undefined ? "" : ` · ${label(message.id, 40)}`;
  if (message.method !== undefined) return `${label(message.method, 80)}${id}`;
  return `${message.error === undefined ? "result" : "error"}${id}`;
}
