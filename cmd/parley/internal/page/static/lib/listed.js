// What servers list, and what in their lists is not of its kind.

import { html } from "./preact.js";
import { Json, Notice } from "./ui.js";

/**
 * listed tells what can be named from what cannot: whatever is no object with a text by this name.
 * @param {unknown[] | undefined} items
 * @param {string} by
 * @returns {{good: object[], bad: unknown[]}}
 */
export function listed(items, by) {
  const isGood = (item) => item !== null && typeof item === "object" && typeof item[by] === "string";
  return { good: (items ?? []).filter(isGood), bad: (items ?? []).filter((item) => !isGood(item)) };
}

/** Malformed shows what in a list is not of its kind. */
export function Malformed({ items, what, by }) {
  if (items.length === 0) return null;
  return html`<${Notice} kind="warning" title=${`The list of ${what} has ${items.length} without a ${by}`}>
    <details>
      <summary>As the server sent them</summary>
      <${Json} value=${items} open=${1} label=${`Malformed ${what}`} />
    </details>
  <//>`;
}
