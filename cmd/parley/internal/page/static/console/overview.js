import { api, useGet } from "../lib/api.js";
import { html } from "../lib/preact.js";
import { href } from "../lib/route.js";
import { label } from "../lib/text.js";
import { Button, Copy, ErrorBox, Facts, Notice, Time } from "../lib/ui.js";
import { Name, State, Table, ago, counts, stateOf, useDeed } from "./parts.js";

const times = (n, one, many) => `${n} ${n === 1 ? one : many}`;

/** View shows how the gateway is, and what waits for somebody. */
export function View({ overview: o, can }) {
  const { data } = useGet("/backends", {}, ["backend"]);
  const reload = useDeed();
  const broken = (data?.backends ?? []).filter((b) => b.status === "broken" || b.failures > 0);
  const c = o.configuration;
  return html`<h1><${Name} of=${o.name} /></h1>
    ${c.error && html`<${Notice} kind="error" title="What the file says now is wrong, and the configuration from before is served."><pre>${label(c.error, 4000)}</pre><//>`}
    <div class="cards">
      <${Card} to="approvals" n=${o.approvals} title="Approvals" text=${times(o.approvals, "call waits for somebody", "calls wait for somebody")} kind=${o.approvals ? "warning" : ""} />
      <${Card} to="pins" off=${!o.guards.includes("pins")} n=${o.pins} title="Pins" text=${times(o.pins, "definition is withheld", "definitions are withheld")} kind=${o.pins ? "warning" : ""} />
      <${Card} to="backends" n=${`${(data?.backends ?? []).filter((b) => b.status === "up").length}/${data?.backends.length ?? "…"}`} title="Backends" text="are up" kind=${broken.length ? "error" : ""} />
      <${Card} to="sessions" n=${Object.values(o.sessions).reduce((a, b) => a + b, 0)} title="Sessions" text=${counts(o.sessions)} />
      <${Card} to="scan" off=${!o.guards.includes("scan")} n=${o.findings.reduce((a, f) => a + f.count, 0)} title="Scan" text="findings since the start" kind=${o.findings.length ? "warning" : ""} />
    </div>
    <h2>Gateway</h2>
    <${Facts} facts=${[
      ["Clients", o.addresses.map((a) => html`<div key=${a} class="row"><code>${a}</code> ${a.startsWith("http") && html`<${Copy} kind="link" text=${a} />`}</div>`)],
      ["Who may use it", label(o.clients, 500)],
      ["Process", `${o.pid}, version ${o.version}, since ${ago(o.since)}`],
      ["Configuration", html`<code>${label(c.file, 500)}</code>, revision <code>${c.revision}</code>, read <${Time} at=${c.since} />`],
      ["Guards", o.guards.join(", ") || "none"],
    ]} />
    ${can("operator") && html`<p class="row"><${Button} busy=${Boolean(reload.busy)} onClick=${() => reload.run("Reload", () => api.post("/configuration/reload"))}>Read the configuration again<//>
      ${reload.done && html`<span role="status">${reload.done.before === reload.done.after ? "Nothing has changed." : `Changed: ${label(reload.done.detail, 500)}`}</span>`}</p>`}
    <${ErrorBox} error=${reload.error} />
    ${o.warnings.length > 0 && html`<${Notice} kind="warning" title="Left out, or does not work"><ul>${o.warnings.map((w) => html`<li key=${w}>${label(w, 1000)}</li>`)}</ul><//>`}
    ${broken.length > 0 && html`<h2>Backends that fail</h2><${Table} label="Backends that fail" head=${["Backend", "State", "Why"]} rows=${broken.map((b) => [html`<a href=${href(["backends", b.name])}>${b.name}</a>`, html`<${State} of=${stateOf(b)} />`, label(b.error, 300)])} />`}`;
}

/** Card is a number that leads to its view; what is off has none. */
function Card({ to, n, title, text, kind = "", off = false }) {
  return html`<a class=${`count ${off ? "" : kind}`} href=${href(to)}><strong>${off ? "–" : n}</strong><span>${title}</span><small>${off ? "off: not in the configuration" : text}</small></a>`;
}
