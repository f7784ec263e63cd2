import { api, useGet } from "../lib/api.js";
import { html, useEffect, useRef, useState } from "../lib/preact.js";
import { isOurs } from "../lib/keys.js";
import { go, href } from "../lib/route.js";
import { stringify } from "../lib/json.js";
import { label } from "../lib/text.js";
import { Badge, Button, Check, Copy, Empty, ErrorBox, Facts, Field, Json, Select, Spinner, Split, Tabs, TextInput, Time, VirtualList, announce } from "../lib/ui.js";
import { Lacks, Name, ago, useDeed } from "./parts.js";

/** View shows what waits for a human, to give or refuse: #/approvals/ID. */
export function View({ route, can }) {
  const { data, error, reload } = useGet("/approvals", {}, ["approval"]);
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  if (!data) return error ? html`<${ErrorBox} error=${error} />` : html`<${Spinner} />`;
  const { waiting } = data;
  const at = waiting.findIndex((w) => w.id === route.rest[0]);
  const list = html`<h1>Approvals</h1>
    <${VirtualList} label="Calls that wait" count=${waiting.length} rowHeight=${56} selected=${at} keyOf=${(i) => waiting[i].id} onPick=${(i) => go(["approvals", waiting[i].id])} row=${(i) => html`<${Row} of=${waiting[i]} now=${now} />`} empty=${html`<${Empty} title="Nothing waits." />`} />
    <${Given} grants=${data.given} can=${can} onDone=${reload} />
    <${Lately} decided=${data.decided} />`;
  const id = route.rest[0];
  const detail = id ? html`<${Detail} key=${id} id=${id} gone=${at < 0} bounds=${data} can=${can} now=${now} onDone=${reload} />` : html`<${Empty} title=${waiting.length ? "Pick a call." : "Calls that need the approval of a human come here."} />`;
  return html`<${Split} label="Calls that wait" list=${list} detail=${detail} />`;
}

function Row({ of: w, now }) {
  return html`<div class="line"><span class="grow"><div class="cut"><strong>${label(w.shown, 100)}</strong> <span class="faint mono">${w.id}</span></div>
    <div class="cut faint">${label(w.principal || w.client || w.source || "somebody", 80)}</div></span>
    <span class="number faint">${ago(w.asked, now)}</span></div>`;
}

/** Detail shows one call with its exact arguments. */
function Detail({ id, gone, bounds, can, now, onDone }) {
  const { data: w, error } = useGet(gone ? null : `/approvals/${encodeURIComponent(id)}`);
  const [tab, setTab] = useState("seen");
  if (gone) return html`<${Over} of=${bounds.decided.find((d) => d.id === id)} />`;
  if (!w) return error ? html`<${ErrorBox} error=${error} />` : html`<${Spinner} />`;
  const exact = w.arguments === undefined ? "" : stringify(w.arguments, 2);
  return html`<h2><${Name} of=${w.shown} /></h2>
    ${w.unlisted && html`<div class="notice warning">Its server does not list it, so nobody knows what it is.</div>`}
    ${w.why?.map((why) => html`<div class="notice" key=${why}>${label(why, 500)}</div>`)}
    <h3>Arguments</h3>
    <${Tabs} label="Arguments" current=${tab} onChange=${setTab} tabs=${[{ id: "seen", title: "As a text" }, { id: "tree", title: "As a tree" }]}>
      ${tab === "seen" ? html`<pre class="exact">${w.text}</pre>` : w.arguments === undefined ? html`<p>None.</p>` : html`<${Json} value=${w.arguments} open=${6} label="Arguments" />`}
    <//>
    ${exact && html`<p><${Copy} text=${exact} label="Copy the arguments" /></p>`}
    ${w.extra !== undefined && html`<h3>And besides</h3><${Json} value=${w.extra} label="Other params" />`}
    ${w.ask === "client" ? html`<p>Only the person at the client may decide.</p>` : can("approver") ? html`<${Decide} waiting=${w} bounds=${bounds} onDone=${onDone} />` : html`<${Lacks} role="approver" what="approve or refuse it" />`}
    <${Facts} facts=${[
      ["Digest", html`<code class="digest">${w.digest}</code>`],
      ["Backend", w.backend],
      ["Name at the backend", html`<${Name} of=${w.subject} most=${300} />`],
      ["Method", html`<code>${w.method}</code>`],
      ["User", w.principal && label(w.principal, 300)],
      ["Program", w.client && label(w.client, 200)],
      ["Address", w.source],
      ["View", w.view],
      ["Asked", html`<${Time} at=${w.asked} />, ${ago(w.asked, now)}`],
      ["Denied if nobody answers", ago(w.until, now)],
      ["Who may decide", { both: "an operator, or the person at the client", operator: "an operator", client: "the person at the client" }[w.ask] ?? w.ask],
    ]} />`;
}

const endings = { given: "approved", refused: "refused", expired: "time is over", withdrawn: "its client has left", revoked: "approval revoked" };
const kinds = { given: "good", refused: "error" };

const Ending = ({ of: d }) => html`<${Badge} kind=${kinds[d.decision] ?? "warning"}>${endings[d.decision] ?? d.decision}<//>`;

/** Over says what was decided about a call that does not wait any more. */
function Over({ of: d }) {
  if (!d) return html`<${Empty} title="This call does not wait any more.">It was decided about, its time is over, or its client has left. Only the latest decisions are kept here; the audit log has all.<//>`;
  return html`<h2><${Name} of=${d.shown} /></h2>
    <p role="status">This call does not wait any more: <${Ending} of=${d} /></p>
    <${Facts} facts=${[
      ["By", d.by && label(d.by, 300)],
      ["At", html`<${Time} at=${d.time} />`],
      ["Reason", d.reason && label(d.reason, 1000)],
      ["Approved until", d.until && html`<${Time} at=${d.until} />`],
      ["Backend", d.backend],
      ["User", d.principal && label(d.principal, 300)],
      ["Program", d.client && label(d.client, 200)],
    ]} />`;
}

/** Lately are the latest decisions. */
function Lately({ decided }) {
  if (decided.length === 0) return null;
  return html`<h2>Decided lately</h2>
    <ul class="given">${decided.slice(0, 20).map((d) => html`<li key=${`${d.id} ${d.time}`} class="row"><${Time} at=${d.time} /> <a class="mono" href=${href(["approvals", d.id])}>${label(d.shown, 60)}</a> <${Ending} of=${d} /> <span class="faint">${d.by && `by ${label(d.by, 60)}`}</span></li>`)}</ul>`;
}

const spans = [[60, "1 minute"], [300, "5 minutes"], [600, "10 minutes"], [1800, "30 minutes"], [3600, "1 hour"], [14400, "4 hours"], [86400, "1 day"], [604800, "7 days"]];

/** Decide is where somebody decides: for once, or for a time. */
function Decide({ waiting: w, bounds, onDone }) {
  const [seconds, setSeconds] = useState("0");
  const [tool, setTool] = useState(false);
  const [reason, setReason] = useState("");
  const deed = useDeed();
  const forTime = Number(seconds) > 0;
  const decided = useRef(false); // until the list without it is here
  const decide = async (verb, body) => {
    if (decided.current) return;
    if (!(await deed.run(verb === "allow" ? `Approve ${w.id}` : `Refuse ${w.id}`, () => api.post(`/approvals/${encodeURIComponent(w.id)}/${verb}`, body)))) return;
    decided.current = true;
    onDone();
  };
  const act = useRef({});
  act.current = { a: () => decide("allow", { seconds: 0, tool: false }), d: () => decide("deny", { reason }) };
  useEffect(() => {
    const pressed = (event) => {
      const f = event.shiftKey && act.current[event.key.toLowerCase()]; // a letter alone is too easily pressed, and belongs to g
      if (!f || event.repeat || !isOurs(event)) return;
      event.preventDefault();
      f();
    };
    // Not at once: the key that led here must not decide.
    const timer = setTimeout(() => addEventListener("keydown", pressed), 400);
    announce(`${label(w.shown, 100)} waits. Shift A approves it once, Shift D refuses it.`);
    return () => {
      clearTimeout(timer);
      removeEventListener("keydown", pressed);
    };
  }, [w.id]);
  const options = [{ value: "0", label: "this call, once" }, ...spans.filter(([s]) => s <= bounds.maxSeconds).map(([s, text]) => ({ value: String(s), label: `the same call, for ${text}` }))];
  return html`<div class="card decide">
    <${Field} label="Approve"><${Select} value=${seconds} onChange=${setSeconds} options=${options} /><//>
    ${bounds.toolWide && html`<${Check} label="With any arguments" hint="Not only with those above." checked=${tool && forTime} disabled=${!forTime} onChange=${setTool} />`}
    <div class="row"><${Button} kind="primary" busy=${Boolean(deed.busy)} onClick=${() => decide("allow", { seconds: Number(seconds), tool: tool && forTime })}>Approve<//></div>
    <${Field} label="Reason" hint="What the client is told if it is refused."><${TextInput} value=${reason} onInput=${setReason} maxlength="1000" /><//>
    <div class="row"><${Button} kind="danger" busy=${Boolean(deed.busy)} onClick=${() => decide("deny", { reason })}>Refuse<//> <small class="faint"><kbd>Shift</kbd> <kbd>A</kbd> approves once, <kbd>Shift</kbd> <kbd>D</kbd> refuses</small></div>
    <${ErrorBox} error=${deed.error} />
  </div>`;
}

/** Given are the approvals for a time. */
function Given({ grants, can, onDone }) {
  const deed = useDeed(onDone);
  if (grants.length === 0) return null;
  const revoke = (g) => deed.run(`Revoke ${g.id}`, () => api.post(`/approvals/${encodeURIComponent(g.id)}/revoke`));
  return html`<h2>Approved for a time</h2><${ErrorBox} error=${deed.error} />
    <ul class="given">${grants.map((g) => html`<li key=${g.id} class="row nowrap"><div class="grow">
      <${Name} of=${g.shown} /> with ${g.tool ? html`<${Badge} kind="warning">any arguments<//>` : html`<code>${label((g.arguments || "no arguments").replace(/\s+/g, " "), 300)}</code>`}
      <div class="faint">for ${label(g.principal || g.client || "anybody", 60)}, by ${label(g.by, 60)}, until <${Time} at=${g.until} />, ${g.used === 0 ? "not used yet" : g.used === 1 ? "used once" : `used ${g.used} times`}</div></div>
      ${can("approver") && html`<${Button} busy=${deed.busy === `Revoke ${g.id}`} aria-label=${`Revoke ${g.id}`} onClick=${() => revoke(g)}>Revoke<//>`}</li>`)}</ul>`;
}
