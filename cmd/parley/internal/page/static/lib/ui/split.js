import { html } from "../preact.js";

/**
 * Split is a list with the detail of what is picked beside it, or below it in a narrow window.
 * @param {{list: any, detail: any, label: string, detailLabel?: string}} props
 */
export function Split({ list, detail, label, detailLabel = "Detail" }) {
  return html`<div class="split">
    <section class="pane list" aria-label=${label}>${list}</section>
    <section class="pane detail" aria-label=${detailLabel} tabindex="-1">${detail}</section>
  </div>`;
}
