// One tool: what it says of itself, a form for its arguments, and the results of its calls.

import { api, useGet } from "../lib/api.js";
import { Marked, label } from "../lib/content.js";
import { stringify } from "../lib/json.js";
import { html, useEffect, useMemo, useState } from "../lib/preact.js";
import { SchemaEditor, defaults, focusProblem, validate } from "../lib/schemaform.js";
import { go, href } from "../lib/route.js";
import { keep, kept, ofRun, useKept } from "../lib/state.js";
import { Badge, Button, Check, Copy, Duration, Empty, ErrorBox, Facts, Field, Json, Notice, Select, Tabs, TextArea, TextInput, Time } from "../lib/ui.js";
import { optionsOf } from "./call-options.js";
import { CallView, StateBadge, problemsOf } from "./call.js";
import { Reconnect, isGone } from "./reconnect.js";
import { badges } from "./tools.js";

const tabs = [
  { id: "call", title: "Call" },
  { id: "definition", title: "Definition" },
  { id: "history", title: "Calls" },
];

/** Tool shows a tool of a connection. */
export function Tool({ connection, tool, route }) {
  const tab = tabs.some(({ id }) => id === route.params.tab) ? route.params.tab : "call";
  const to = (params) => go([connection.id, "tools", ...route.rest], { ...route.params, ...params });
  const title = tool.title ?? tool.annotations?.title;
  return html`<article class="tool">
    <header>
      <h1>${label(tool.name, 300)}</h1>
      <div class="row tool-marks">${title && title !== tool.name && html`<span class="tool-title">${label(title)}</span>`}${badges(tool).map(({ kind, text, about }) => html`<${Badge} key=${text} kind=${kind} title=${about}>${text}<//>`)}</div>
      <${Description} text=${tool.description} />
    </header>
    <${Tabs} tabs=${tabs} current=${tab} onChange=${(id) => to({ tab: id === "call" ? undefined : id })} label="Of this tool">
      ${tab === "call" && html`<${CallTab} connection=${connection} tool=${tool} route=${route} to=${to} />`}
      ${tab === "definition" && html`<${Definition} tool=${tool} />`}
      ${tab === "history" && html`<${History} connection=${connection} tool=${tool} to=${to} />`}
    <//>
  </article>`;
}

const long = 600;

function Description({ text }) {
  const [all, setAll] = useState(false);
  if (typeof text !== "string" || text === "") return html`<p class="faint">It has no description.</p>`;
  const cut = text.length > long && !all;
  return html`<div class="tool-description"><${Marked} text=${cut ? `${text.slice(0, long)}…` : text} lines />${cut && html` <${Button} kind="link" onClick=${() => setAll(true)}>${`All ${text.length} characters`}<//>`}</div>`;
}

/** useArguments keeps what was filled in over a reload, unless some of it is secret. */
function useArguments(connection, tool) {
  const key = ofRun(`arguments:${connection.id}:${tool.name}`);
  const secret = useMemo(() => /"(format":"password|writeOnly":true)/.test(stringify(tool.inputSchema)), [tool]);
  const begin = () => defaults(tool.inputSchema) ?? {};
  const [value, setValue] = useState(() => (secret ? begin() : kept(key, undefined) ?? begin()));
  const set = (next) => {
    setValue(next);
    if (!secret) keep(key, next);
  };
  return [value, set, () => set(begin())];
}

function CallTab({ connection, tool, route, to }) {
  const prefix = "args";
  const [args, setArgs, reset] = useArguments(connection, tool);
  const [options, setOptions] = useKept(ofRun(`options:${connection.id}:${tool.name}`), { task: tool.execution?.taskSupport === "required" });
  const [drafts, setDrafts] = useState([]);
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(undefined);
  const [said, setSaid] = useState([]); // by the server, of what was sent last
  const found = useProblems(tool.inputSchema, args);
  const shown = [...found.filter(({ missing }) => tried || !missing), ...said];
  const { wrong: misfits, meta, ...asked } = optionsOf(options);
  const refused = Object.keys(misfits).length;
  const wrong = drafts.length + found.length + refused;
  const change = (next) => {
    setArgs(next);
    setSaid([]);
  };
  const call = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const { id } = await api.post(`/connections/${connection.id}/calls`, { method: "tools/call", params: { name: tool.name, arguments: args, _meta: meta }, ...asked });
      to({ call: id });
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  const submit = (event) => {
    event.preventDefault();
    setTried(true);
    const now = [...drafts, ...validate(tool.inputSchema ?? {}, args)]; // found may be of what was there before the last key
    if (now.length > 0) setTimeout(() => focusProblem(prefix, now[0].pointer));
    else if (refused > 0) setTimeout(focusOption);
    else call();
  };
  const keys = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  };
  return html`<form onSubmit=${submit} onKeyDown=${keys} novalidate>
      <${SchemaEditor} schema=${tool.inputSchema ?? {}} value=${args} onChange=${change} errors=${shown} idPrefix=${prefix} label="the arguments" onProblems=${setDrafts} />
      <${Options} connection=${connection} tool=${tool} options=${options} wrong=${misfits} onChange=${setOptions} />
      <div class="row call-buttons">
        <${Button} type="submit" kind="primary" busy=${busy}>Call<//>
        ${tried && wrong > 0 && html`<span class="wrong">${wrong === 1 ? "1 field does not fit." : `${wrong} fields do not fit.`}</span>`}
        ${tried && wrong > 0 && drafts.length + refused === 0 && html`<${Button} onClick=${call} busy=${busy}>Call anyway<//>`}
        <${Button} kind="plain" onClick=${() => (reset(), setTried(false), setSaid([]))}>Start over<//>
        <span class="faint">Ctrl Enter calls</span>
      </div>
    </form>
    <${ErrorBox} error=${error}>${isGone(connection) && html`<${Reconnect} connection=${connection} />`}<//>
    ${route.params.call && html`<${CallView} key=${route.params.call} connection=${connection} id=${route.params.call} tool=${tool} onGone=${() => to({ call: undefined })} onAgain=${(id) => to({ call: id })} onEdit=${(params) => change(params?.arguments ?? {})} onEnd=${(ended) => setSaid(problemsOf(ended, tool.inputSchema))} />`}`;
}

/** useProblems checks the arguments when nobody has typed for a moment. */
function useProblems(schema, args) {
  const [problems, setProblems] = useState(() => validate(schema ?? {}, args));
  useEffect(() => {
    const timer = setTimeout(() => setProblems(validate(schema ?? {}, args)), 120);
    return () => clearTimeout(timer);
  }, [schema, args]);
  return problems;
}

/** focusOption leads to the first option that is wrong. */
function focusOption() {
  const options = document.querySelector(".call-options");
  options.open = true;
  options.querySelector("[aria-invalid]")?.focus();
}

const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** Options are what else can be said of a call. */
function Options({ connection, tool, options, wrong, onChange }) {
  const set = (name) => (value) => onChange({ ...options, [name]: value });
  const support = tool.execution?.taskSupport;
  const can = (feature) => connection.features?.includes(feature);
  const mirrored = useMemo(() => stringify(tool.inputSchema).includes('"x-mcp-header"'), [tool]);
  return html`<details class="call-options">
    <summary>Options</summary>
    <div class="options">
      <${Field} label="Time limit in seconds" hint="Without an answer or progress; 60 if it is empty." error=${wrong.timeout}><${TextInput} value=${options.timeout} onInput=${set("timeout")} inputmode="decimal" /><//>
      ${can("callLogLevel") && html`<${Field} label="Log messages of this call" hint="The server is asked for those from this level on."><${Select} value=${options.logLevel ?? ""} onChange=${set("logLevel")} options=${[{ value: "", label: "none" }, ...levels]} /><//>`}
      ${can("callTask") && (support === "optional" || support === "required") && html`<div><${Check} label="Call as a task" hint=${support === "required" ? "This tool runs in no other way." : "The call goes on apart from this connection."} checked=${options.task === true} disabled=${support === "required"} onChange=${set("task")} />
        ${options.task && html`<${Field} label="Keep the task for (seconds)" hint="Left to the server if it is empty." error=${wrong.ttl}><${TextInput} value=${options.ttl} onInput=${set("ttl")} inputmode="decimal" /><//>`}</div>`}
      ${!can("callTask") && can("tasks") && html`<p class="faint">In this revision the server decides whether the call becomes a task; it is followed in any case.</p>`}
      ${mirrored && html`<p class="faint">Arguments that the tool wants in HTTP headers, too (x-mcp-header), are put there by parley; there is nothing to do.</p>`}
      <${Field} label="_meta" hint="A JSON object with keys of your own, such as com.example/trace." error=${wrong.metaText}><${TextArea} value=${options.metaText ?? ""} onInput=${set("metaText")} rows=${2} /><//>
    </div>
  </details>`;
}

function Definition({ tool }) {
  const { name, title, description, inputSchema, outputSchema, annotations, _meta, icons, execution, ...others } = tool;
  const hints = Object.entries(annotations === undefined || typeof annotations === "object" ? annotations ?? {} : { annotations }).slice(0, 50).map(([key, value]) => [label(key, 60), label(typeof value === "string" ? value : stringify(value), 200)]);
  return html`<div class="stack">
    ${hints.length > 0 && html`<section><h2>Annotations</h2><p class="faint">What the server claims; nothing makes it true.</p><${Facts} facts=${hints} /></section>`}
    <section><h2>Arguments</h2>${inputSchema === undefined ? html`<${Notice} kind="warning">The tool has no input schema.<//>` : html`<${Json} value=${inputSchema} open=${4} label="Input schema" />`}</section>
    <section><h2>Result</h2>${outputSchema === undefined ? html`<p class="faint">The tool has no output schema: what it returns is not checked.</p>` : html`<${Json} value=${outputSchema} open=${4} label="Output schema" />`}</section>
    ${[["Execution", execution], ["Icons", icons], ["_meta", _meta], ["Other members", Object.keys(others).length > 0 ? others : undefined]].map(([what, value]) => value !== undefined && html`<section key=${what}><h2>${what}</h2><${Json} value=${value} label=${what} /></section>`)}
    <div><${Copy} label="Copy the definition" text=${() => stringify(tool, 2)} /></div>
  </div>`;
}

function History({ connection, tool, to }) {
  const { data, error } = useGet(`/connections/${connection.id}/calls`, {}, { call: (event) => event.connection === connection.id });
  const calls = (data?.calls ?? []).filter((call) => call.method === "tools/call" && call.subject === tool.name);
  if (error && !data) return html`<${ErrorBox} error=${error} />`;
  if (data && calls.length === 0) return html`<${Empty} title="This tool was not called yet." />`;
  return html`<table class="calls">
    <thead><tr><th>Call</th><th>State</th><th>Began</th><th>Took</th></tr></thead>
    <tbody>${calls.map((call) => html`<tr key=${call.id}>
      <td><a href=${href([connection.id, "tools", tool.name], { call: call.id })} onClick=${(event) => (event.preventDefault(), to({ tab: undefined, call: call.id }))}>${call.id}</a></td>
      <td><${StateBadge} call=${call} /></td><td><${Time} at=${call.started} /></td><td><${Duration} ms=${call.tookMs} /></td>
    </tr>`)}</tbody>
  </table>`;
}
