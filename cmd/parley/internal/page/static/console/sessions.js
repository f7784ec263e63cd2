import { useGet } from "../lib/api.js";
import { html } from "../lib/preact.js";
import { href } from "../lib/route.js";
import { label } from "../lib/text.js";
import { Empty, ErrorBox, Spinner, Time } from "../lib/ui.js";
import { Name, Table, ago, counts } from "./parts.js";

/** View shows who uses the gateway, and which calls are parked. */
export function View() {
  const { data, error } = useGet("/sessions", {}, ["exchange", "overview"]);
  const backends = useGet("/backends", {}, ["backend"]).data?.backends ?? [];
  if (!data) return error ? html`<${ErrorBox} error=${error} />` : html`<${Spinner} />`;
  const parked = backends.filter((b) => b.parked > 0);
  return html`<h1>Sessions</h1>
    <p>Open by transport: ${counts(data.open)}. Those without a session come with each request; they are told apart by user, program and address.</p>
    ${data.clients.length === 0 && html`<${Empty} title="Nobody has used the gateway since it was started." />`}
    ${data.clients.length > 0 &&
    html`<${Table} label="Clients" head=${["Program", "User", "Session", "Address", "Revision", "View", "Since", "Last heard of", "Exchanges", "Under way"]}
      rows=${data.clients.map((c) => [
        html`<${Name} of=${c.client || "unknown"} mono=${false} most=${60} />`,
        c.principal ? label(c.principal, 100) : html`<span class="faint">nobody</span>`,
        c.session ? html`<code>${c.session}</code>` : html`<span class="faint">none</span>`,
        label(c.source ?? "", 60),
        c.revision,
        label(c.view ?? "", 40),
        html`<${Time} at=${c.since} />`,
        ago(c.last),
        html`<span class="number">${c.exchanges}</span>`,
        html`<span class="number">${c.underWay}</span>`,
      ])} />`}
    <h2>Parked calls</h2>
    <p>Calls that are open at a server, and wait for their client to come back with an answer.</p>
    ${parked.length === 0
      ? html`<${Empty} title="No call is parked." />`
      : html`<${Table} label="Parked calls" head=${["Backend", "Calls", "At most", "The oldest"]} rows=${parked.map((b) => [html`<a href=${href(["backends", b.name])}>${b.name}</a>`, b.parked, b.maxParked, ago(b.parkedSince)])} />`}`;
}
