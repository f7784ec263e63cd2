// Traffic: every frame of a connection, and what belongs together.

import { api, useGet, useRead, withParams } from "../lib/api.js";
import { html, useMemo, useState } from "../lib/preact.js";
import { go } from "../lib/route.js";
import { ofRun, useKept } from "../lib/state.js";
import { Button, Check, Empty, ErrorBox, Field, Menu, Notice, SearchBox, Select, Split, Sure } from "../lib/ui.js";
import { Anew, marksOf, useLines } from "./traffic/lines.js";
import { Exchange } from "./traffic/exchange.js";
import { Frame } from "./traffic/frame.js";
import { FrameList } from "./traffic/list.js";
import { asked, grown } from "./traffic/numbers.js";
import { Resume } from "./traffic/resume.js";

const kinds = ["request", "notification", "result", "error", "batch", "malformed", "http", "dropped"];
const all = { q: "", kind: "", method: "", direction: "" };

/** View is the view of the traffic. */
export function View({ connection, route }) {
  const [filter, setFilter] = useKept(ofRun(`traffic:${connection.id}`), all);
  const [tail, setTail] = useKept(ofRun(`traffic:${connection.id}:tail`), true);
  const path = `/connections/${connection.id}`;
  const mine = (event) => event.connection === connection.id;
  const topics = tail ? { frames: mine } : {};
  const summary = useGet(`${path}/traffic`, {}, topics);
  const { exchange, n, line } = route.params;
  const lines = useLines(connection);
  const marks = useMemo(() => (exchange ? new Map() : marksOf(lines)), [lines, exchange]);
  const wanted = { ...filter, exchange };
  const find = async (known, signal) => grown(known, await api.get(`${path}/frames/numbers`, asked(wanted, known), { signal }), wanted);
  const numbers = useRead(withParams(`${path}/frames/numbers`, wanted), find, { frames: mine });
  const pick = (frame) => go([connection.id, "traffic"], marks.has(frame) ? { line: marks.get(frame).line.connection } : { exchange, n: frame });
  const mark = line && lines.find(({ connection }) => String(connection) === line);
  const picked = n ? Number(n) : mark ? mark.first - 0.5 : undefined;
  const list = html`<${Filters} filter=${filter} onChange=${setFilter} summary=${summary.data} tail=${tail} onTail=${setTail} />
    ${exchange && html`<${Notice} title=${`Exchange ${exchange}`}><${Button} kind="link" onClick=${() => go([connection.id, "traffic"], { n })}>Show all frames<//><//>`}
    <${ErrorBox} error=${numbers.error} />
    <${FrameList} key=${JSON.stringify(wanted)} path=${path} found=${numbers.data} marks=${marks} tail=${tail} picked=${picked} onPick=${pick} empty=${html`<${Empty} title=${exchange || Object.values(filter).some(Boolean) ? "No frame matches" : "Nothing has travelled"} />`} />`;
  let detail = html`<${Empty} title="Pick a frame" />`;
  if (n) detail = html`<${Frame} key=${n} connection=${connection} number=${n} />`;
  else if (exchange) detail = html`<h2>Exchange ${exchange}</h2><${Exchange} key=${exchange} connection=${connection} number=${exchange} />`;
  else if (line) detail = html`<${Anew} connection=${connection} lines=${lines} number=${line} />`;
  return html`<div class="traffic">
    <h1>Traffic</h1>
    <${Tools} connection=${connection} lines=${lines} state=${summary.data?.state} filter=${wanted} onClear=${numbers.reload} />
    <${Split} label="Frames" detailLabel="What was picked" list=${list} detail=${detail} />
  </div>`;
}

function Filters({ filter, onChange, summary, tail, onTail }) {
  const set = (name) => (value) => onChange((old) => ({ ...all, ...old, [name]: value }));
  const methods = useMemo(() => Object.entries(summary?.methods ?? {}).sort(), [summary]);
  const counted = (name, count) => ({ value: name, label: count ? `${name} (${count})` : name });
  return html`<div class="row filters">
    <${SearchBox} label="Search frames" value=${filter.q} onInput=${set("q")} />
    <${Select} aria-label="Direction" value=${filter.direction} onChange=${set("direction")} options=${[{ value: "", label: "both ways" }, "sent", "received"]} />
    <${Select} aria-label="Kind" value=${filter.kind} onChange=${set("kind")} options=${[{ value: "", label: "every kind" }, ...kinds.map((kind) => counted(kind, summary?.kinds?.[kind]))]} />
    <${Select} aria-label="Method" value=${filter.method} onChange=${set("method")} options=${[{ value: "", label: "every method" }, ...methods.map(([name, count]) => counted(name, count))]} />
    <${Check} label="Follow" checked=${tail} onChange=${onTail} />
  </div>`;
}

/** Tools is what can be done with the recording as a whole. */
function Tools({ connection, lines, state, filter, onClear }) {
  const [secrets, setSecrets] = useState(false);
  const [error, setError] = useState(undefined);
  const path = `/connections/${connection.id}`;
  const save = (form) => () => api.download(`${path}/export/${form}`, `parley-${connection.id}.${form}`, { ...filter, secrets: secrets ? "1" : "" }).catch(setError);
  const [asks, ask] = useState(false);
  const clear = () =>
    api.del(`${path}/frames`).then(
      () => (onClear(), true),
      (failed) => setError(failed),
    );
  return html`<div class="row">
      <${Menu} label="Export" items=${[{ label: "HAR", hint: "for the developer tools of browsers", onPick: save("har") }, { label: "JSON lines", hint: "a frame in each", onPick: save("jsonl") }]} />
      <${Check} label="With secrets" checked=${secrets} onChange=${setSecrets} />
      <${Button} onClick=${() => ask(true)} disabled=${!state || state.last < state.first}>Clear<//>
      <${Resume} connection=${connection} lines=${lines} />
      ${state?.dropped > 0 && html`<span class="faint">${state.dropped} older frames were dropped to make room.</span>`}
    </div>
    ${state?.stopped && html`<${Notice} kind="error" urgent=${true} title="Nothing is recorded any more">${state.stopped}<//>`} <${ErrorBox} error=${!asks && error} />
    ${asks && html`<${Sure} title="Forget all frames?" verb="Forget them" error=${error} onDo=${clear} onClose=${() => ask(false)}><p>What was recorded so far is gone then. Export keeps it in a file.</p><//>`}`;
}
