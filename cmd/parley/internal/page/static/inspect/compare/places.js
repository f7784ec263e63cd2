// Where two values differ.

import { Marked } from "../../lib/content.js";
import { stringify } from "../../lib/json.js";
import { html } from "../../lib/preact.js";
import { Empty } from "../../lib/ui.js";

/**
 * Places is a table of what differs.
 * @param {{places: {pointer: string, left: any, right: any}[]}} props
 */
export function Places({ places, caption = "What differs" }) {
  if (places.length === 0) return html`<${Empty} title="There is no difference" />`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}>
    <table class="places">
      <caption class="unseen">${caption}</caption>
      <thead><tr><th scope="col">At</th><th scope="col">Left</th><th scope="col">Right</th></tr></thead>
      <tbody>${places.map(({ pointer, left, right }) => html`<tr key=${pointer}><th scope="row"><code>${pointer || "(all of it)"}</code></th><td><${Value} value=${left} kind="removed" /></td><td><${Value} value=${right} kind="added" /></td></tr>`)}</tbody>
    </table>
  </div>`;
}

const longest = 4000;

function Value({ value, kind }) {
  if (value === undefined) return html`<span class="faint">nothing</span>`;
  const text = typeof value === "string" ? value : stringify(value, 1);
  return html`<span class=${kind}><${Marked} text=${text.slice(0, longest)} lines />${text.length > longest && html` <span class="faint">and ${text.length - longest} more characters</span>`}</span>`;
}
