import { api } from "../lib/api.js";
import { useLive } from "../lib/live.js";
import { html, useCallback, useEffect, useMemo, useRef, useState } from "../lib/preact.js";
import { go } from "../lib/route.js";
import { useKept } from "../lib/state.js";
import { label } from "../lib/text.js";
import { Check, Duration, Empty, ErrorBox, Facts, SearchBox, Select, Spinner, Split, Time, VirtualList } from "../lib/ui.js";
import { Marked } from "../lib/content.js";
import { Name, State, bytes } from "./parts.js";

const most = 5000;

/** useExchanges follows the exchanges, unless it is paused. */
function useExchanges(paused) {
  const [state, setState] = useState({ all: [] });
  const known = useRef({ latest: 0, by: new Map(), busy: false, again: false });
  const read = useCallback(async () => {
    const k = known.current;
    if (k.busy) {
      k.again = true;
      return;
    }
    k.busy = true;
    try {
      const { exchanges, latest } = await api.get("/exchanges", { since: k.latest });
      if (latest < k.latest) k.by.clear(); // the gateway was started again
      k.latest = latest;
      for (const e of exchanges) k.by.set(e.number, e);
      const all = [...k.by.values()].sort((a, b) => a.number - b.number);
      for (const { number } of all.splice(0, Math.max(0, all.length - most))) k.by.delete(number);
      setState({ all, read: true });
    } catch (error) {
      setState((s) => ({ ...s, error }));
    }
    k.busy = false;
    if (k.again) {
      k.again = false;
      read();
    }
  }, []);
  useEffect(() => {
    if (!paused) read();
  }, [paused]);
  useLive("exchange", () => !paused && read(), [paused]);
  useLive("lost", () => !paused && read(), [paused]);
  return state;
}

const outcomes = ["", "under way", "ok", "failed", "asked", "denied", "cancelled", "error", "ended"];
const said = (e) => [e.method, e.subject, e.shown, e.backend, e.principal, e.client, e.source, e.error, e.session].join(" ").toLowerCase();

/** View shows what passes through the gateway now: #/exchanges/NUMBER. */
export function View({ route }) {
  const [paused, pause] = useState(false);
  const [text, setText] = useKept("exchanges.text", "");
  const [outcome, setOutcome] = useKept("exchanges.outcome", "");
  const { all, error, read } = useExchanges(paused);
  const shown = useMemo(() => {
    const wanted = text.toLowerCase();
    return all.filter((e) => (!outcome || (e.outcome ?? "under way") === outcome) && (!wanted || said(e).includes(wanted)));
  }, [all, text, outcome]);
  const [number] = route.rest;
  const isPicked = (e) => String(e.number) === number;
  const list = html`<div class="row">
      <h1 class="grow">Exchanges</h1>
      <${Check} label="Pause" checked=${paused} onChange=${pause} />
    </div>
    <div class="row nowrap"><${SearchBox} label="Method, name, user, program" value=${text} onInput=${setText} />
      <${Select} aria-label="Outcome" value=${outcome} onChange=${setOutcome} options=${outcomes.map((value) => ({ value, label: value || "all outcomes" }))} /></div>
    <${ErrorBox} error=${error} />
    <${VirtualList} label="Exchanges" count=${shown.length} rowHeight=${44} tail=${!paused} selected=${shown.findIndex(isPicked)} keyOf=${(i) => shown[i].number} onPick=${(i) => go(["exchanges", shown[i].number])} row=${(i) => html`<${Row} of=${shown[i]} />`}
      empty=${html`<${Empty} title=${all.length ? "No exchange fits." : "There was no exchange yet."} />`} />
    <div class="faint number">${shown.length} of ${all.length}${paused ? ", paused" : ""}</div>`;
  return html`<${Split} label="Exchanges" list=${list} detail=${html`<${Picked} number=${number} exchange=${all.find(isPicked)} read=${read} />`} />`;
}

function Picked({ number, exchange, read }) {
  if (exchange) return html`<${Detail} of=${exchange} />`;
  if (!number) return html`<${Empty} title="Pick an exchange." />`;
  return read ? html`<${Empty} title=${`There is no exchange ${label(number, 30)} here.`}>Only the latest ${most} since the gateway was started are kept.<//>` : html`<${Spinner} />`;
}

function Row({ of: e }) {
  const about = e.subject && label(e.shown || e.subject, 100);
  return html`<div class="line"><span class="grow two-lines"><strong class=${about ? "" : "mono"}>${about || label(e.method, 60)}</strong>
      <span class="second"><${Time} at=${e.begun} /> ${about && html`<span class="mono">${label(e.method, 60)}</span>`} ${label(e.principal || e.client || "", 60)}</span></span>
    ${e.outcome && html`<${Duration} ms=${e.ms} />`}<${State} of=${e.outcome ?? "under way"} /></div>`;
}

function Detail({ of: e }) {
  const a = e.approval;
  return html`<h2 class="mono">${label(e.method, 100)}</h2>
    ${e.error && html`<div class="notice error"><${Marked} text=${e.error} lines=${true} /></div>`}
    <${Facts} facts=${[
      ["Outcome", html`<${State} of=${e.outcome ?? "under way"} />`],
      ["Backend", e.backend],
      ["Name at the backend", e.subject && html`<${Name} of=${e.subject} most=${300} />`],
      ["Name for clients", e.shown && html`<${Name} of=${e.shown} most=${300} />`],
      ["Begun", html`<${Time} at=${e.begun} />`],
      ["Took", e.outcome && html`<${Duration} ms=${e.ms} />`],
      ["User", e.principal && label(e.principal, 300)],
      ["Program", e.client && label(e.client, 200)],
      ["Session", e.session && html`<code>${e.session}</code>`],
      ["Address", e.source],
      ["Revision", e.revision],
      ["View", e.view],
      ["Params", bytes(e.paramsBytes)],
      ["Result", bytes(e.resultBytes)],
      ["Approval", a && `${a.decision}${a.by ? ` by ${label(a.by, 100)}` : ""}${a.reason ? `: ${label(a.reason, 300)}` : ""}`],
    ]} />
    <p class="faint">Params and results are in the audit log, if its level keeps them.</p>`;
}
