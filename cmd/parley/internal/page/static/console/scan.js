import { useGet } from "../lib/api.js";
import { html } from "../lib/preact.js";
import { label } from "../lib/text.js";
import { Empty, ErrorBox, Notice, Spinner } from "../lib/ui.js";
import { Name, State, Table } from "./parts.js";

/** View shows what the scan finds. */
export function View() {
  const { data: f, error, loading } = useGet("/findings", {}, ["overview"]);
  if (!f) return error ? html`<h1>Scan</h1><${ErrorBox} error=${error} />` : html`<${Spinner} label="Asking the servers what they list" />`;
  return html`<h1>Scan ${loading && html`<${Spinner} />`}</h1>
    ${!f.scans && html`<${Notice} kind="warning" title="The configuration has no scan.">What is below is only looked at here. The section <code>scan: {}</code> has the gateway look, too.<//>`}
    <${Missing} of=${f.unavailable} />
    <h2>Since the gateway was started</h2>
    ${f.counts.length === 0 ? html`<${Empty} title="Nothing was found." />` : html`<${Table} label="What was found" head=${["In", "What", "Done", "How often"]} rows=${f.counts.map((c) => [c.in, c.kind, html`<${State} of=${c.action} />`, html`<span class="number">${c.count}</span>`])} />`}
    <h2>In what servers list now</h2>
    <p>${f.looked} definitions were looked at.</p>
    ${f.definitions.length === 0 ? html`<${Empty} title="Nothing is found in them." />` : html`<${Table} label="Findings in definitions" head=${["Backend", "Of", "What", "Looks like", "At", "Done"]} rows=${f.definitions.map((d) => [
      d.backend,
      d.name ? html`<${Name} of=${d.name} />` : "instructions",
      html`<strong>${d.kind}</strong>: ${label(d.text, 300)}`,
      d.shows && html`<code>${label(d.shows, 300)}</code>`,
      html`<code>${label(d.pointer || "", 200)}</code>${d.places > 1 ? ` and ${d.places - 1} more` : ""}`,
      html`<${State} of=${f.scans ? d.action : "off"} />`,
    ])} />`}`;
}

/** Missing says which servers could not be asked. */
export function Missing({ of }) {
  const names = Object.entries(of ?? {});
  if (names.length === 0) return null;
  return html`<${Notice} kind="warning" title="Some servers could not be asked"><ul>${names.map(([name, why]) => html`<li key=${name}><strong>${name}</strong>: ${label(why, 500)}</li>`)}</ul><//>`;
}
