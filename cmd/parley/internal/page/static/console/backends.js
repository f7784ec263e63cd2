import { api, useGet } from "../lib/api.js";
import { html, useState } from "../lib/preact.js";
import { go } from "../lib/route.js";
import { label } from "../lib/text.js";
import { Button, Empty, ErrorBox, Facts, Spinner, Split, Sure, Time, VirtualList } from "../lib/ui.js";
import { Marked } from "../lib/content.js";
import { Lacks, Name, State, ago, stateOf, useDeed } from "./parts.js";

/** View shows the servers behind the gateway: #/backends/NAME. */
export function View({ route, can }) {
  const { data, error } = useGet("/backends", {}, ["backend"]);
  if (!data) return error ? html`<${ErrorBox} error=${error} />` : html`<${Spinner} />`;
  const all = data.backends;
  const at = all.findIndex((b) => b.name === route.rest[0]);
  if (all.length === 0) return html`<h1>Backends</h1><${Empty} title="There is no server behind the gateway." />`;
  const list = html`<h1>Backends</h1><${VirtualList} label="Backends" count=${all.length} rowHeight=${44} selected=${at} keyOf=${(i) => all[i].name} onPick=${(i) => go(["backends", all[i].name])} row=${(i) => html`<${Row} backend=${all[i]} />`} />`;
  const detail = at < 0 ? html`<${Empty} title=${route.rest[0] ? `There is no backend “${label(route.rest[0], 100)}”.` : "Pick a backend."} />` : html`<${Detail} key=${all[at].name} backend=${all[at]} can=${can} />`;
  return html`<${Split} label="Backends" list=${list} detail=${detail} />`;
}

function Row({ backend: b }) {
  return html`<div class="line"><span class="grow cut"><strong>${b.name}</strong> <span class="faint">${label(b.server || b.reached, 100)}</span></span>
    ${b.parked > 0 && html`<small class="number">${b.parked} parked</small>`}<${State} of=${stateOf(b)} /></div>`;
}

function Detail({ backend: b, can }) {
  const [asks, ask] = useState(false);
  const deed = useDeed();
  const restart = () => deed.run("Restart", () => api.post(`/backends/${encodeURIComponent(b.name)}/restart`));
  return html`<div class="row"><h2 class="grow">${b.name} <${State} of=${stateOf(b)} /></h2>${can("operator") && html`<${Button} onClick=${() => ask(true)}>Start again<//>`}</div>
    ${b.error && html`<div class=${`notice ${b.failures ? "error" : ""}`}><strong>${b.failures ? "Why it fails" : `Last trouble, ${ago(b.errorSince)}`}</strong><${Marked} text=${b.error} lines=${true} /></div>`}
    <${Facts} facts=${[
      ["Reached", html`<code>${label(b.reached, 500)}</code>`],
      ["Server", b.server && html`<${Name} of=${b.server} mono=${false} />`],
      ["Revision", b.revision],
      ["Login", b.login && label(b.login, 300)],
      ["Connections", `${b.connections}, of which ${b.used} in use`],
      ["Calls in flight", String(b.inFlight)],
      ["Parked calls", `${b.parked} of ${b.maxParked}${b.parked ? `, the oldest ${ago(b.parkedSince)}` : ""}`],
      ["Restarts", `${b.restarts}, connections lost: ${b.lost}`],
      ["Failures in a row", b.failures ? `${b.failures}; ${b.retry ? `tried again ${ago(b.retry)}` : "tried again with the next request"}` : ""],
      ["Last error", b.errorSince && html`<${Time} at=${b.errorSince} />`],
    ]} />
    <h3>Last lines of its standard error</h3>
    ${b.stderr?.length ? html`<pre class="stderr" tabindex="0" aria-label="Standard error">${b.stderr.map((line, i) => html`<div key=${i}><${Marked} text=${line} /></div>`)}</pre>` : html`<p class="faint">It has written nothing.</p>`}
    ${!can("operator") && html`<${Lacks} role="operator" what="start it again" />`}
    ${asks && html`<${Sure} title=${`Start ${b.name} again?`} verb="Start again" busy=${Boolean(deed.busy)} error=${deed.error} onDo=${restart} onClose=${() => ask(false)}>
      <p>Its connections are closed, and calls that are under way fail. Clients stay connected, and the next call makes a new connection.</p>
    <//>`}`;
}
