import { api } from "../lib/api.js";
import { html, useCallback, useEffect, useRef, useState } from "../lib/preact.js";
import { go } from "../lib/route.js";
import { label } from "../lib/text.js";
import { Button, Empty, ErrorBox, Field, Json, SearchBox, Select, Split, TextInput, Time, VirtualList } from "../lib/ui.js";
import { Problem, State, bytes } from "./parts.js";

const outcomes = ["", "ok", "failed", "asked", "denied", "cancelled", "error", "ended", "approval", "console", "resumed"];
const names = ["text", "principal", "backend", "method", "outcome", "after", "before"];

/** instant is a local time of a form as the API takes it. */
const instant = (local) => (local && !Number.isNaN(Date.parse(local)) ? new Date(local).toISOString() : undefined);

/** turned says that no time fits, as the end comes before the beginning. */
const turned = ({ after, before }) => Boolean(after && before && before <= after);

/** byTime sorts lines, the newest first: they are written when what they are about ends, and have the time of its beginning. */
const byTime = (lines) => lines.sort((a, b) => Date.parse(b.time) - Date.parse(a.time));

/** View searches the audit log: #/audit?text=pay&outcome=denied&line=TIME. */
export function View({ route }) {
  const wanted = Object.fromEntries(names.map((name) => [name, route.params[name] ?? ""]));
  const [form, setForm] = useState(wanted);
  const [state, setState] = useState({ lines: [] });
  const pick = (line) => go(["audit"], { ...wanted, line: line.time }, { replace: true });
  const key = JSON.stringify(wanted);
  const under = useRef(null);
  const search = useCallback(
    async (from) => {
      // The answer to a search before this one could come later, and would show what nobody asks for any more.
      under.current?.abort();
      const { signal } = (under.current = new AbortController());
      setState((s) => ({ lines: from ? s.lines : [], busy: true, next: undefined }));
      try {
        const { lines, ...rest } = await api.get("/audit", { ...wanted, after: instant(wanted.after), before: instant(wanted.before), from, limit: 200 }, { signal });
        if (!signal.aborted) setState((s) => ({ lines: byTime(from ? [...s.lines, ...lines] : lines), ...rest }));
      } catch (error) {
        if (!signal.aborted) setState((s) => ({ ...s, busy: false, error }));
      }
    },
    [key],
  );
  useEffect(() => {
    setForm(wanted);
    if (turned(wanted)) setState({ lines: [] });
    else search();
    return () => under.current?.abort();
  }, [key]);
  const send = (event) => {
    event.preventDefault();
    if (turned(form)) return;
    if (JSON.stringify(form) === key) search();
    else go(["audit"], form);
  };
  const set = (name) => (value) => setForm((f) => ({ ...f, [name]: value }));
  const { lines, error, busy, next } = state;
  if (error?.code === "section") return html`<h1>Audit</h1><${Problem} error=${error} />`;
  const picked = lines.findIndex(({ time }) => time === route.params.line);
  const list = html`<h1>Audit</h1>
    <form class="filters" onSubmit=${send}>
      <${SearchBox} label="Text" value=${form.text} onInput=${set("text")} />
      <${Field} label="User"><${TextInput} value=${form.principal} onInput=${set("principal")} /><//>
      <${Field} label="Backend"><${TextInput} value=${form.backend} onInput=${set("backend")} /><//>
      <${Field} label="Method or action"><${TextInput} value=${form.method} onInput=${set("method")} /><//>
      <${Field} label="Outcome"><${Select} value=${form.outcome} onChange=${set("outcome")} options=${outcomes.map((value) => ({ value, label: value || "all" }))} /><//>
      <${Field} label="From"><${TextInput} type="datetime-local" value=${form.after} onInput=${set("after")} /><//>
      <${Field} label="Until" error=${turned(form) && "This is not after From."}><${TextInput} type="datetime-local" value=${form.before} onInput=${set("before")} /><//>
      <${Button} kind="primary" type="submit" busy=${busy}>Search<//>
    </form>
    <${ErrorBox} error=${error} />
    <${VirtualList} label="Lines of the audit log" count=${lines.length} rowHeight=${44} selected=${picked} onPick=${(i) => pick(lines[i])} row=${(i) => html`<${Row} line=${lines[i]} />`} empty=${html`<${Empty} title=${busy ? "Searching" : error ? "Nothing was searched." : "No line fits."} />`} />
    <div class="row"><span class="faint number grow">${lines.length} ${lines.length === 1 ? "line" : "lines"}${state.looked === undefined ? "" : `, ${bytes(state.looked)} read`}${state.broken ? `, ${state.broken} cannot be read` : ""}</span>
      ${next && html`<${Button} busy=${busy} onClick=${() => search(next)}>Look further back<//>`}</div>`;
  const detail = picked < 0 ? html`<${Empty} title=${route.params.line && !busy ? "This line is not among those that were found." : "Pick a line."} />` : html`<h2>${label(what(lines[picked]), 200)}</h2><${Json} value=${lines[picked]} open=${4} label="Line of the audit log" />`;
  return html`<${Split} label="Lines of the audit log" list=${list} detail=${detail} />`;
}

const what = (line) => (line.console ? `${line.console.action} ${line.console.target ?? ""}` : `${line.method ?? ""} ${line.shown ?? line.subject ?? ""}`).trim() || line.outcome;

function Row({ line: l }) {
  const decision = l.console?.refused ? "refused" : l.outcome === "approval" && l.approval?.decision;
  return html`<div class="line"><span class="grow two-lines"><strong>${label(what(l), 120)}</strong>
      <span class="second"><${Time} at=${l.time} /> ${decision && `${label(decision, 20)} · `}${label(l.console?.by || l.approval?.by || l.principal || l.client || "", 60)}</span></span>
    <${State} of=${l.outcome} /></div>`;
}
