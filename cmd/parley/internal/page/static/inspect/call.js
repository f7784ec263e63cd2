// One call: how far it is, what it heard, and its result.

import { api, useGet } from "../lib/api.js";
import { Blocks, Cut, label } from "../lib/content.js";
import { numberOf, stringify } from "../lib/json.js";
import { html, useEffect, useRef, useState } from "../lib/preact.js";
import { href } from "../lib/route.js";
import { serverProblems } from "../lib/schema/serverproblems.js";
import { Badge, Button, Copy, Duration, ErrorBox, Facts, Json, Notice, Tabs, TextInput, Time, announce } from "../lib/ui.js";
import { App, appOf } from "./app.js";
import { Reconnect, isGone } from "./reconnect.js";

/**
 * CallView shows a call of a connection.
 * @param {{connection: object, id: string, tool?: object, onGone?: () => void, onAgain?: (id: string) => void, onEdit?: (params: object) => void, onEnd?: (call: object) => void, inTask?: boolean}} props
 * inTask says that the task that the call has become is shown anyway
 */
export function CallView({ connection, id, tool, inTask = false, onGone, onAgain, onEdit, onEnd }) {
  const path = `/connections/${connection.id}/calls/${encodeURIComponent(id)}`;
  const { data: call, error, reload } = useGet(path, {}, { call: (event) => event.connection === connection.id && event.id === id });
  const ended = call !== undefined && call.state !== "running";
  const section = useRef(null);
  useEffect(() => section.current?.scrollIntoView({ block: "nearest" }), [call === undefined]);
  useEffect(() => {
    if (!ended) return;
    announce(`Call ${id}: ${wordOf(call)}`);
    onEnd?.(call);
  }, [ended]);
  if (!call) return html`<${ErrorBox} error=${error}>${onGone && html`<${Button} onClick=${onGone}>Close<//>`}<//>`;
  return html`<section class="call-view" ref=${section} aria-label=${`Call ${id}`}>
    <div class="row call-head">
      <h2>Call ${id}</h2>
      <${StateBadge} call=${call} />
      <span class="faint"><${Time} at=${call.started} /> · ${ended ? html`took <${Duration} ms=${call.tookMs} />` : html`<${Running} since=${call.started} />`}</span>
      ${call.exchange > 0 && html`<a href=${href([connection.id, "traffic"], { exchange: call.exchange })}>Traffic</a>`}
      ${ended && onAgain && html`<${Again} connection=${connection} call=${call} onAgain=${onAgain} />`}
      ${onEdit && html`<${Button} kind="plain" onClick=${() => onEdit(call.params)}>Take its arguments<//>`}
    </div>
    ${!inTask && html`<${TaskLine} connection=${connection} call=${call} />`}
    ${!ended && html`<${Live} connection=${connection} call=${call} path=${path} reload=${reload} />`}
    <${AppOf} connection=${connection} call=${call} tool=${tool} />
    <${Outcome} connection=${connection} call=${call} />
    <${Heard} call=${call} />
  </section>`;
}

/**
 * AppOf is the app of a call's tool, from when the call begins, and to its end whatever that is. A call
 * that was over before anybody looked has one only if there is something to show in it.
 */
function AppOf({ connection, call, tool }) {
  const begun = useRef(false);
  if (!tool || !appOf(tool) || call.params?.name !== tool.name) return null;
  begun.current ||= call.state === "running" || (call.result !== undefined && !call.isError);
  if (!begun.current) return null;
  return html`<${App} key=${call.id} connection=${connection.id} tool=${tool} args=${call.params.arguments ?? {}} result=${call.result} cancelled=${cancelledBy(call)} />`;
}

/** cancelledBy returns why a call has ended without a result, or undefined if it runs or has one. */
function cancelledBy(call) {
  if (call.state === "running" || call.result !== undefined) return undefined;
  if (call.state === "left") return "its task was left running";
  return call.error?.message ?? "it has no result";
}

const words = { running: "running", done: "done", failed: "no result", cancelled: "cancelled", left: "task left running" };
const wordOf = (call) => (call.state === "done" && call.isError ? "the tool failed" : (words[call.state] ?? call.state));

/** StateBadge is the state of a call in a word. */
export function StateBadge({ call }) {
  const kind = call.state === "done" ? (call.isError ? "error" : "good") : call.state === "failed" ? "error" : call.state === "running" ? "accent" : "warning";
  return html`<${Badge} kind=${kind}>${wordOf(call)}<//>${call.check && !call.check.fits && html` <${Badge} kind="error">does not fit its schema<//>`}`;
}

function Running({ since }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 200);
    return () => clearInterval(timer);
  }, []);
  return html`for <${Duration} ms=${Math.max(0, now - Date.parse(since))} />`;
}

function Again({ connection, call, onAgain }) {
  const [error, setError] = useState(undefined);
  if (call.method !== "tools/call") return null;
  const again = () => api.post(`/connections/${connection.id}/calls`, { method: call.method, params: call.params, task: call.task, timeout: call.timeout, logLevel: call.logLevel }).then(({ id }) => onAgain(id), setError);
  return html`<${Button} onClick=${again}>Call again<//><${ErrorBox} error=${error} />`;
}

/** Live is what there is to see and do while a call runs. */
function Live({ connection, call, path, reload }) {
  const [reason, setReason] = useState("");
  const [error, setError] = useState(undefined);
  const stop = (leave) => () => api.del(path, { reason, leave: leave ? 1 : undefined }).then(reload, setError);
  return html`<div class="call-live">
    <${Progress} note=${call.progress} />
    ${connection.counts?.questions > 0 && html`<${Notice} kind="warning">The server waits for an answer. <a href=${href([connection.id, "questions"])}>Questions</a><//>`}
    <div class="row">
      <${Button} kind="danger" onClick=${stop(false)}>Cancel<//>
      ${call.taskNow && html`<${Button} onClick=${stop(true)}>Leave the task running<//>`}
      <${TextInput} class="reason" value=${reason} onInput=${setReason} aria-label="Reason for cancelling" placeholder="Reason (optional)" />
    </div>
    <${ErrorBox} error=${error} />
  </div>`;
}

function Progress({ note }) {
  if (!note) return html`<p class="faint">No progress was reported yet.</p>`;
  const { progress, total, message } = note.params ?? {};
  const [done, all] = [numberOf(progress), numberOf(total)];
  const known = Number.isFinite(done) && Number.isFinite(all) && all > 0;
  return html`<div class="progress">
    ${known ? html`<progress max=${all} value=${Math.min(done, all)} aria-label="Progress"></progress>` : html`<progress aria-label="Progress"></progress>`}
    <span class="number">${label(known ? `${stringify(progress)} of ${stringify(total)}` : stringify(progress), 60)}</span> ${message !== undefined && html`<span>${label(message, 300)}</span>`}
  </div>`;
}

function TaskLine({ connection, call }) {
  const task = call.taskNow;
  if (!task) return null;
  return html`<p class="row"><${Badge} kind="accent">task<//> <code>${label(task.taskId, 80)}</code> ${label(task.status, 40)}${task.statusMessage && html` · ${label(task.statusMessage, 200)}`} <a href=${href([connection.id, "tasks", call.taskKey])}>The task</a></p>`;
}

function Outcome({ connection, call }) {
  const [tab, setTab] = useState("result");
  if (call.error && call.state !== "running") return html`<${Failure} connection=${connection} call=${call} />`;
  if (call.result === undefined) return null;
  const tabs = [
    { id: "result", title: "Result" },
    { id: "raw", title: "Raw" },
    { id: "request", title: "Request" },
  ];
  return html`<${Tabs} tabs=${tabs} current=${tab} onChange=${setTab} label="Of this call">
    ${tab === "result" && html`<${Result} connection=${connection} call=${call} />`}
    ${tab === "raw" && html`<${Json} value=${call.result} open=${3} label="Result" />`}
    ${tab === "request" && html`<${Json} value=${{ method: call.method, params: call.params }} open=${4} label="Request" />`}
  <//>`;
}

function Failure({ connection, call }) {
  const { rpc } = call.error;
  if (call.state === "cancelled") return html`<${Notice} kind="warning" title="Cancelled">${label(call.error.message, 500)}<//>`;
  return html`<${ErrorBox} error=${{ ...call.error, message: label(call.error.message, 1000) }}>${isGone(connection) && html`<${Reconnect} connection=${connection} />`}<//>
    ${rpc && html`<${Facts} facts=${[["Code", stringify(rpc.code)], ["Message", html`<${Cut} text=${rpc.message} most=${4000} />`]]} />`}
    ${rpc?.data !== undefined && html`<${Json} value=${rpc.data} label="Data of the error" />`}`;
}

/** Result shows what a tool has returned, and whether it is what the tool promises. */
export function Result({ connection, call }) {
  const { result } = call;
  const { content, structuredContent, _meta } = result ?? {};
  const blocks = content !== undefined;
  return html`
    ${call.isError && html`<${Notice} kind="error" title="The tool says that it failed.">It may help to call it in another way.<//>`}
    <${OutputCheck} check=${call.check} />
    ${blocks && html`<${Blocks} blocks=${content} connection=${connection} />`}
    ${blocks && Array.isArray(content) && content.length === 0 && structuredContent === undefined && html`<p class="faint">The result is empty.</p>`}
    ${structuredContent !== undefined && html`<h3>Structured content</h3><${Json} value=${structuredContent} open=${3} label="Structured content" />`}
    ${!blocks && structuredContent === undefined && html`<${Json} value=${result} open=${3} label="Result" />`}
    ${_meta !== undefined && html`<details><summary>_meta</summary><${Json} value=${_meta} label="_meta" /></details>`}
    <div class="row result-buttons"><${Copy} label="Copy the result" text=${() => stringify(result, 2)} /></div>`;
}

function OutputCheck({ check }) {
  if (!check) return null;
  if (check.fits) return html`<p><${Badge} kind="good">fits its output schema<//></p>`;
  return html`<${Notice} kind="error" title="The structured content is not what the tool's output schema says.">
    <ul class="problems">${check.problems.map(({ pointer, message }, i) => html`<li key=${i}><code>${pointer === "" ? "(all of it)" : label(pointer, 200)}</code> ${label(message, 500)}</li>`)}</ul>
    ${check.more > 0 && html`<p>${check.more} more do not fit.</p>`}
    <details><summary>Output schema</summary><${Json} value=${check.schema} open=${3} label="Output schema" /></details>
  <//>`;
}

/** Heard is what came while the call was running. */
function Heard({ call }) {
  const { progress = [], logs = [], notes = [], dropped = 0 } = call.heard ?? {};
  const all = [...progress, ...logs, ...notes].sort((a, b) => Date.parse(a.time) - Date.parse(b.time));
  if (all.length === 0) return null;
  return html`<details class="heard" open=${call.state === "running" || logs.length > 0}>
    <summary>${all.length} ${all.length === 1 ? "notification" : "notifications"} of this call${dropped > 0 ? `, and ${dropped} older ones that were forgotten` : ""}</summary>
    <ol>${all.slice(-200).map((note, i) => html`<li key=${i}><${Time} at=${note.time} /> ${said(note)}</li>`)}</ol>
  </details>`;
}

function said({ method, params = {} }) {
  if (method === "notifications/progress") return `${label(stringify(params.progress), 40)}${params.total === undefined ? "" : ` of ${label(stringify(params.total), 40)}`}${params.message === undefined ? "" : ` · ${label(params.message, 300)}`}`;
  if (method === "notifications/message") return html`<${Badge}>${label(params.level, 20)}<//> ${params.logger && html`<code>${label(params.logger, 60)}</code> `}${label(typeof params.data === "string" ? params.data : stringify(params.data), 500)}`;
  return html`<code>${label(method, 80)}</code> ${label(stringify(params), 300)}`;
}

/** problemsOf returns what a server has said of single arguments. */
export function problemsOf(call, schema) {
  if (call.state === "done" && !call.isError) return [];
  const texts = (Array.isArray(call.result?.content) ? call.result.content : []).map((block) => block?.text);
  return serverProblems([call.error?.rpc?.message, ...texts], call.error?.rpc?.data ?? call.result?.structuredContent, schema);
}
