import { api, useGet } from "../lib/api.js";
import { html } from "../lib/preact.js";
import { useKept } from "../lib/state.js";
import { parse } from "../lib/json.js";
import { label } from "../lib/text.js";
import { Button, Empty, Facts, Field, Notice, Select, Split, Tabs, TextArea, TextInput } from "../lib/ui.js";
import { Problem, State, Table, useDeed } from "./parts.js";

const kinds = [
  { value: "tool", label: "a tool" },
  { value: "prompt", label: "a prompt" },
  { value: "resource", label: "a resource" },
  { value: "method", label: "a method" },
];
const empty = { principal: "", claims: "", scopes: "", view: "", backend: "", kind: "tool", name: "", method: "", annotations: "", arguments: "" };

/** object reads a JSON object that somebody has typed. */
function object(text, name) {
  if (text.trim() === "") return undefined;
  let value;
  try {
    value = parse(text);
  } catch {
    throw Object.assign(new Error("This is no JSON."), { field: name });
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw Object.assign(new Error("This is no JSON object."), { field: name });
  return value;
}

/** asked is the question of the form, as the API takes it. */
function asked(form) {
  const question = { backend: form.backend.trim() };
  for (const name of ["principal", "view", "method"]) if (form[name].trim()) question[name] = form[name].trim();
  if (form.kind !== "method" && form.name.trim()) question[form.kind] = form.name.trim();
  const scopes = form.scopes.split(/\s+/).filter(Boolean);
  if (scopes.length) question.scopes = scopes;
  for (const name of ["claims", "annotations", "arguments"]) {
    const value = object(form[name], name);
    if (value !== undefined) question[name] = value;
  }
  return question;
}

/** View asks the policies who may do what. */
export function View() {
  const [tab, setTab] = useKept("policy.tab", "one");
  return html`<h1>Policy tester</h1>
    <${Tabs} label="Policy tester" current=${tab} onChange=${setTab} tabs=${[{ id: "one", title: "One question" }, { id: "many", title: "Cases" }]}>
      ${tab === "one" ? html`<${One} />` : html`<${Many} />`}
    <//>`;
}

const inMore = ["view", "annotations"];
const shownAt = ["claims", "arguments", ...inMore];

function One() {
  const backends = useGet("/backends", {}).data?.backends ?? [];
  const names = useGet("/policy/names", {}, ["backend"]).data ?? { views: [], entries: [] };
  const [form, setForm] = useKept("policy.form", empty);
  const deed = useDeed();
  const set = (name) => (value) => setForm((f) => ({ ...f, [name]: value }));
  const ask = (event) => {
    event.preventDefault();
    deed.run("Ask", async () => api.post("/policy/explain", asked({ ...form, backend })));
  };
  const backend = form.backend || backends[0]?.name || "";
  const offered = names.entries.filter((e) => e.backend === backend && e.kind === form.kind);
  const wrong = (name) => (deed.error?.field === name ? deed.error.message : undefined);
  const fields = html`<form onSubmit=${ask}>
    <${Field} label="User" hint="The subject of their token, such as ada; “client nightly” is a program; nobody if it is empty."><${TextInput} value=${form.principal} onInput=${set("principal")} /><//>
    <${Field} label="Claims" hint="Of the token of the user, a JSON object." error=${wrong("claims")}><${TextArea} rows=${2} value=${form.claims} onInput=${set("claims")} placeholder='{"groups": ["staff"]}' /><//>
    <${Field} label="Scopes" hint="With spaces between them."><${TextInput} value=${form.scopes} onInput=${set("scopes")} /><//>
    <${Field} label="Backend"><${Select} value=${backend} onChange=${set("backend")} options=${backends.map((b) => b.name)} /><//>
    <div class="row nowrap"><${Field} label="About"><${Select} value=${form.kind} onChange=${set("kind")} options=${kinds} /><//>
      <div class="grow">${form.kind === "method" ? html`<${Field} label="Method"><${TextInput} value=${form.method} onInput=${set("method")} placeholder="tools/list" /><//>` : html`<${Field} label="Name"><${TextInput} value=${form.name} onInput=${set("name")} list="policy-names" /><//>`}</div></div>
    <datalist id="policy-names">${offered.map((e) => html`<option key=${e.name} value=${e.name}>${e.shown}</option>`)}</datalist>
    <${Field} label="Arguments" hint="A JSON object." error=${wrong("arguments")}><${TextArea} rows=${3} value=${form.arguments} onInput=${set("arguments")} placeholder='{"amount": 500}' /><//>
    <details open=${inMore.includes(deed.error?.field)}><summary>More</summary>
      <${Field} label="View" hint="By which the client comes; empty is none." error=${wrong("view")}><${TextInput} value=${form.view} onInput=${set("view")} list="policy-views" /><//>
      <datalist id="policy-views">${names.views.map((name) => html`<option key=${name} value=${name} />`)}</datalist>
      <${Field} label="Annotations" hint="Of the tool. Without them, they are what it says of itself now." error=${wrong("annotations")}><${TextArea} rows=${2} value=${form.annotations} onInput=${set("annotations")} placeholder='{"destructiveHint": true}' /><//>
      ${form.kind !== "method" && html`<${Field} label="Method" hint="If it is not that of calling, getting or reading."><${TextInput} value=${form.method} onInput=${set("method")} /><//>`}
    </details>
    <${Button} kind="primary" type="submit" busy=${Boolean(deed.busy)}>Ask<//>
    <${Problem} error=${!shownAt.includes(deed.error?.field) && deed.error} />
  </form>`;
  return html`<${Split} label="Question" list=${html`<div class="scroll">${fields}</div>`} detailLabel="Decision" detail=${deed.done ? html`<${Decision} of=${deed.done} />` : html`<${Empty} title="Ask who may do what. Nothing is called." />`} />`;
}

const verbs = { allow: ["good", "Allowed"], approval: ["warning", "Allowed, if a human approves it"], deny: ["error", "Denied"] };

function Decision({ of: d }) {
  const [kind, title] = verbs[d.verb] ?? ["", d.verb];
  return html`<div role="status">${d.unlisted && html`<${Notice} kind="warning" title="This may not be what you mean.">${label(d.unlisted, 500)}. What the policies say of it stands below.<//>`}
      <${Notice} kind=${d.unlisted ? "warning" : kind} title=${title}>${label(d.why, 1000)}<//></div>
    ${d.approval?.map((why) => html`<p key=${why}>Why a human has to: ${label(why, 500)}</p>`)}
    <h2>Policies that decided</h2>
    ${d.policies.length === 0 ? html`<p>None: it is the default.</p>` : html`<${Table} label="Policies that decided" head=${["Policy", "Reason", "Where"]} rows=${d.policies.map((p) => [html`<code>${label(p.id, 200)}</code>`, label(p.reason ?? "", 500), p.file && html`<code>${label(p.file, 300)}:${p.line}</code>`])} />`}
    ${d.mistakes?.length > 0 && html`<${Notice} kind="warning" title="Policies that could not be evaluated"><ul>${d.mistakes.map((m) => html`<li key=${m}>${label(m, 500)}</li>`)}</ul><//>`}
    ${d.annotations && html`<h3>What the tool says of itself</h3><${Facts} facts=${Object.entries(d.annotations).map(([name, value]) => [name, label(value, 200)])} />`}`;
}

const example = `[
  {"name": "staff may pay small sums", "principal": "alice", "claims": {"groups": ["staff"]},
   "backend": "shop", "tool": "pay", "arguments": {"amount": 5}, "expect": "allow"}
]`;

/** casesOf reads the cases that somebody has typed. */
function casesOf(text) {
  let cases;
  try {
    cases = parse(text);
  } catch {
    // Said just below.
  }
  if (!Array.isArray(cases)) throw Object.assign(new Error("This is no JSON array of cases."), { field: "cases" });
  return cases;
}

/** Many asks cases, and compares the answers with what is expected. */
function Many() {
  const [text, setText] = useKept("policy.cases", "");
  const deed = useDeed();
  const wrong = deed.error?.field === "cases" && deed.error.message;
  const ask = (event) => {
    event.preventDefault();
    deed.run("Test", async () => api.post("/policy/test", { cases: casesOf(text) }));
  };
  const results = deed.done?.results ?? [];
  const fit = results.filter((r) => r.ok).length;
  return html`<form onSubmit=${ask}>
      <${Field} label="Cases" hint="A JSON array, with the members of the cases of parley gateway policy test." error=${wrong}><${TextArea} rows=${10} value=${text} onInput=${setText} placeholder=${example} /><//>
      <${Button} kind="primary" type="submit" busy=${Boolean(deed.busy)}>Test<//>
    </form>
    <${Problem} error=${!wrong && deed.error} />
    ${deed.done && html`<p role="status">${fit} of ${results.length} as expected</p><${Table} label="Results" head=${["Result", "Case", "Expected", "Decided", "Why"]} rows=${results.map((r, i) => [
      html`<span class=${`badge ${r.ok ? "good" : "error"}`}>${r.ok ? "ok" : "FAIL"}</span>`,
      label(r.name || `case ${i + 1}`, 200),
      r.expected && html`<${State} of=${r.expected} />`,
      r.decision && html`<${State} of=${r.decision.verb} />`,
      label(r.error ?? [r.decision?.why, r.decision?.unlisted].filter(Boolean).join("; "), 500),
    ])} />`}`;
}

