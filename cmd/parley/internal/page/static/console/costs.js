import { useGet } from "../lib/api.js";
import { html, useState } from "../lib/preact.js";
import { label } from "../lib/text.js";
import { Button, Empty, ErrorBox, Spinner } from "../lib/ui.js";
import { Name, Table } from "./parts.js";
import { Missing } from "./scan.js";

const number = (n) => html`<span class="number">${n.toLocaleString("en")}</span>`;

/** View shows what lists of tools cost a model. */
export function View() {
  const { data: c, error } = useGet("/costs", {}, ["overview"]);
  if (!c) return error ? html`<h1>Costs</h1><${ErrorBox} error=${error} />` : html`<${Spinner} label="Asking the servers what they list" />`;
  return html`<h1>Costs</h1>
    <p><strong>${number(c.tokens)}</strong> tokens for ${c.tools} tools, in each request of a model. They are estimated: each model has other ones.</p>
    <${Missing} of=${c.unavailable} />
    <h2>By the profile of the client</h2>
    <${Table} label="By profile" head=${["Profile", "Tokens", "Left out"]} rows=${[
      ["as they are", number(c.tokens), ""],
      ...c.profiles.map((p) => [p.name, number(p.tokens), p.unfit ? `${p.unfit} tools that do not fit` : ""]),
      [html`with <code>search: true</code> in a view`, number(c.search), ""],
    ]} />
    ${c.views.length > 0 && html`<h2>By view</h2><${Table} label="By view" head=${["View", "Tokens"]} rows=${c.views.map((v) => [label(v.name, 60), number(v.tokens)])} />`}
    <h2>By backend and tool</h2>
    ${c.backends.length === 0 ? html`<${Empty} title="No server lists a tool." />` : c.backends.map((b) => html`<${Backend} key=${b.name} of=${b} all=${c.tokens} />`)}`;
}

const few = 5;

function Backend({ of: b, all }) {
  const [open, setOpen] = useState(false);
  const shown = open ? b.tools : b.tools.slice(0, few);
  const dearest = b.tools[0]?.tokens ?? 1;
  return html`<h3>${label(b.name, 60)} <span class="faint">${number(b.tokens)}, ${Math.round((100 * b.tokens) / Math.max(all, 1))}%</span></h3>
    <${Table} label=${`Tools of ${label(b.name, 60)}`} head=${["Tool", "Tokens", "Beside the dearest"]} rows=${shown.map((t) => [html`<${Name} of=${t.name} />`, number(t.tokens), html`<meter min="0" max=${dearest} value=${t.tokens} aria-hidden="true"></meter>`])} />
    ${b.tools.length > few && html`<${Button} kind="link" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>${open ? "Show the dearest" : `Show all ${b.tools.length}`}<//>`}`;
}
