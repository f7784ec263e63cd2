// What the views of the console have in common. Names come from servers and clients: they
// are text, with marks for what would not be seen.

import { html, useRef, useState } from "../lib/preact.js";
import { label } from "../lib/text.js";
import { Badge, ErrorBox, Notice, announce } from "../lib/ui.js";

/** Name is a name from outside. */
export const Name = ({ of, most = 120, mono = true }) => html`<span class=${mono ? "mono" : ""} title=${label(of, 1000)}>${label(of, most)}</span>`;

const kinds = {
  ...{ up: "good", idle: "", connecting: "warning", broken: "error", fails: "error" },
  ...{ ok: "good", failed: "error", error: "error", denied: "warning", asked: "accent", cancelled: "", ended: "", console: "accent", approval: "accent" },
  ...{ allow: "good", deny: "error", block: "error", redact: "warning", log: "", off: "" },
};

/** State is the state or outcome of something. */
export const State = ({ of }) => html`<${Badge} kind=${kinds[of] ?? ""}>${of}<//>`;

/**
 * Table is a table.
 * @param {{head: any[], rows: any[][], label: string}} props
 */
export function Table({ head, rows, label: name }) {
  return html`<div class="scroll" role="region" aria-label=${name} tabindex="0"><table class="data">
    <thead><tr>${head.map((h, i) => html`<th key=${i} scope="col">${h}</th>`)}</tr></thead>
    <tbody>${rows.map((row, i) => html`<tr key=${i}>${row.map((cell, j) => html`<td key=${j}>${cell}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/**
 * useDeed returns what does something at the gateway: run(what, f), which is under way, and
 * what went wrong. What is asked for while something is under way is not done: a key is pressed twice sooner
 * than a button can be disabled.
 * @param {() => void} [after] is called when it was done
 */
export function useDeed(after) {
  const [state, setState] = useState({});
  const busy = useRef(false);
  const run = async (what, f) => {
    if (busy.current) return false;
    busy.current = true;
    setState({ busy: what });
    try {
      const result = await f();
      setState({ done: result });
      announce(`${what}: done`);
      after?.(result);
      return true;
    } catch (error) {
      setState({ error });
      return false;
    } finally {
      busy.current = false;
    }
  };
  return { run, busy: state.busy, error: state.error, done: state.done };
}

/** Lacks says what is for another role. */
export const Lacks = ({ role, what }) => html`<p class="faint">Only ${role}s may ${what}.</p>`;

/** Problem says why something cannot be shown; that its section is not in the configuration is no failure. */
export function Problem({ error }) {
  if (error?.code !== "section") return html`<${ErrorBox} error=${error} />`;
  return html`<${Notice} title=${`This is off: ${label(error.message, 300)}.`}>To turn it on, add <code>${label(error.hint.replace(/^add /, ""), 300)}</code> and read the configuration again.<//>`;
}

/** stateOf is how a backend is. One that fails is idle until it is tried again. */
export const stateOf = (b) => (b.failures > 0 && b.status === "idle" ? "fails" : b.status);

/** ago writes how long ago something was, or how long there is until it is. */
export function ago(time, now = Date.now()) {
  const s = Math.round((now - new Date(time)) / 1000);
  const text = ((n) => (n < 60 ? `${n} s` : n < 3600 ? `${Math.floor(n / 60)} min ${n % 60} s` : n < 86400 ? `${Math.floor(n / 3600)} h ${Math.floor((n % 3600) / 60)} min` : `${Math.floor(n / 86400)} days`))(Math.abs(s));
  return s >= 0 ? `${text} ago` : `in ${text}`;
}

/** bytes writes a size. */
export const bytes = (n) => (n === undefined ? "" : n < 1024 ? `${n} B` : n < 1024 ** 2 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / 1024 ** 2).toFixed(1)} MiB`);

/** counts writes numbers by their names. */
export const counts = (of) => Object.entries(of ?? {}).map(([name, n]) => `${name} ${n}`).join(", ") || "none";
