import { api, useGet } from "../lib/api.js";
import { html, useMemo, useState } from "../lib/preact.js";
import { go } from "../lib/route.js";
import { useKept } from "../lib/state.js";
import { label } from "../lib/text.js";
import { Button, Empty, ErrorBox, Facts, Notice, SearchBox, Select, Spinner, Split, Sure, Time, VirtualList } from "../lib/ui.js";
import { Marked, hasHidden } from "../lib/content.js";
import { difference, parts } from "./difference.js";
import { Lacks, Name, Problem, useDeed } from "./parts.js";

const stateOf = (p) => (p.pending ? (p.approved ? "changed" : "new") : "approved");
const filters = ["waiting", "all", "approved"];

/** View shows what servers said of themselves when it was approved, and what has changed: #/pins/BACKEND/KIND/NAME. */
export function View({ route, can }) {
  const { data, error, reload } = useGet("/pins", {}, ["pin", "overview"]);
  const [text, setText] = useKept("pins.text", "");
  const [filter, setFilter] = useKept("pins.filter", "waiting");
  const all = data?.pins ?? [];
  const [backend, kind, name] = route.rest;
  const shown = useMemo(() => {
    const wanted = text.toLowerCase();
    return all.filter((p) => (filter === "all" || (filter === "waiting") === Boolean(p.pending)) && (!wanted || `${p.backend}/${p.kind}/${p.name}`.toLowerCase().includes(wanted)));
  }, [data, text, filter]);
  if (!data) return error ? html`<h1>Pins</h1><${Problem} error=${error} />` : html`<${Spinner} />`;
  const at = shown.findIndex((p) => p.backend === backend && p.kind === kind && p.name === name);
  const list = html`<h1>Pins</h1>
    <div class="row nowrap"><${SearchBox} label="Backend, kind or name" value=${text} onInput=${setText} /><${Select} aria-label="Which" value=${filter} onChange=${setFilter} options=${filters} /></div>
    <${VirtualList} label="Pins" count=${shown.length} rowHeight=${44} selected=${at} keyOf=${(i) => `${shown[i].backend}/${shown[i].kind}/${shown[i].name}`} onPick=${(i) => go(["pins", shown[i].backend, shown[i].kind, shown[i].name])} row=${(i) => html`<${Row} pin=${shown[i]} />`}
      empty=${html`<${Empty} title=${filter === "waiting" ? "Nothing waits for approval." : "No pin fits."} />`} />
    <div class="faint number">${shown.length} of ${all.length}</div>`;
  const detail = name ? html`<${Detail} key=${route.rest.join("/")} of=${{ backend, kind, name }} can=${can} onDone=${reload} />` : html`<${Empty} title="Pick a pin." />`;
  return html`<${Split} label="Pins" list=${list} detail=${detail} />`;
}

function Row({ pin: p }) {
  const state = stateOf(p);
  return html`<div class="line"><span class="grow cut"><strong>${label(p.name, 100)}</strong> <span class="faint">${p.kind} of ${p.backend}</span></span><span class=${`badge ${state === "approved" ? "good" : "warning"}`}>${state}</span></div>`;
}

function Detail({ of, can, onDone }) {
  const { data: p, error, reload } = useGet("/pins/one", of, ["pin", "overview"]);
  const [asks, ask] = useState(false);
  const deed = useDeed(() => {
    reload();
    onDone();
  });
  if (!p) return error ? html`<${ErrorBox} error=${error} />` : html`<${Spinner} />`;
  const decide = (verb, version) => deed.run(verb, () => api.post(`/pins/${verb}`, { ...of, digest: version.digest }));
  const hidden = [p.approved, p.pending].some((v) => v && hasHidden(v.lines));
  return html`<h2><${Name} of=${p.name} most=${300} /></h2>
    <p>${p.kind} of ${p.backend}: ${stateOf(p) === "changed" ? "it has changed, and is withheld until somebody approves it" : stateOf(p) === "new" ? "it is withheld until somebody approves it" : "it is what was approved"}.</p>
    ${hidden && html`<${Notice} kind="warning" title="It has characters that nobody sees.">Below, marks such as ⟨U+200B⟩ stand for them.<//>`}
    ${can("approver")
      ? html`<div class="row">
          ${p.pending && html`<${Button} kind="primary" busy=${deed.busy === "approve"} onClick=${() => decide("approve", p.pending)}>Approve what is there now<//>`}
          ${p.approved && html`<${Button} kind="danger" onClick=${() => ask(true)}>Withdraw the approval<//>`}
        </div>`
      : html`<${Lacks} role="approver" what="approve it, or withdraw its approval" />`}
    <${ErrorBox} error=${!asks && deed.error} />
    <${Facts} facts=${[
      ["Approved", p.approved && html`<${Time} at=${p.approved.since} /> <code class="digest">${p.approved.digest}</code>`],
      ["There now", p.pending && html`<${Time} at=${p.pending.since} /> <code class="digest">${p.pending.digest}</code>`],
    ]} />
    <${Difference} before=${p.approved?.lines} after=${p.pending?.lines} />
    ${asks && html`<${Sure} title="Withdraw the approval?" verb="Withdraw" busy=${Boolean(deed.busy)} error=${deed.error} onDo=${() => decide("withdraw", p.approved)} onClose=${() => ask(false)}>
      <p>${label(p.name, 200)} is withheld then, until somebody approves it again.</p>
    <//>`}`;
}

/** Difference shows two texts side by side. */
function Difference({ before, after }) {
  if (before === undefined || after === undefined) {
    return html`<h3>${after === undefined ? "What was approved" : "What is there now"}</h3><pre class="exact" tabindex="0"><${Marked} text=${after ?? before} lines=${true} /></pre>`;
  }
  const rows = difference(before, after);
  const changed = rows.filter(([a, b]) => a !== b).length;
  return html`<h3>Difference <span class="faint">in ${changed} ${changed === 1 ? "line" : "lines"}</span></h3>
    <div class="scroll" role="region" aria-label="Difference" tabindex="0"><table class="difference">
      <thead><tr><th scope="col">Approved</th><th scope="col">There now</th></tr></thead>
      <tbody>${rows.map(([a, b], i) => html`<${Line} key=${i} before=${a} after=${b} />`)}</tbody>
    </table></div>`;
}

function Line({ before: a, after: b }) {
  if (a === b) return html`<tr><td><${Marked} text=${a} /></td><td><${Marked} text=${b} /></td></tr>`;
  if (a === undefined || b === undefined) {
    return html`<tr><td class=${a === undefined ? "none" : "old"}>${a !== undefined && html`<del><${Marked} text=${a} /></del>`}</td><td class=${b === undefined ? "none" : "new"}>${b !== undefined && html`<ins><${Marked} text=${b} /></ins>`}</td></tr>`;
  }
  const { head, old, now, tail } = parts(a, b);
  return html`<tr><td class="old"><${Marked} text=${head} /><del><${Marked} text=${old} /></del><${Marked} text=${tail} /></td><td class="new"><${Marked} text=${head} /><ins><${Marked} text=${now} /></ins><${Marked} text=${tail} /></td></tr>`;
}

