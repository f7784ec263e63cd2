// What is shown.

import { html, useEffect, useRef, useState } from "../preact.js";
import { label as oneLine, visible } from "../text.js";
import { announce } from "./announce.js";
import { Button } from "./controls.js";

/**
 * Notice is a remark. An error or a warning is said at once by screen readers if it is urgent.
 * @param {{kind?: "info"|"good"|"warning"|"error", title?: any, urgent?: boolean, children: any}} props
 */
export function Notice({ kind = "info", title, urgent = false, children, ...rest }) {
  return html`<div class=${`notice ${kind}`} role=${urgent ? "alert" : undefined} ...${rest}>${title && html`<strong>${title}</strong>`}<div>${children}</div></div>`;
}

/**
 * ErrorBox is a failure with its way out. Without an error it is nothing.
 * @param {{error?: {message: string, hint?: string, code?: string}, children?: any}} props
 */
export function ErrorBox({ error, children }) {
  if (!error) return null;
  return html`<${Notice} kind="error" urgent=${true} title=${visible(error.message) || "Something failed"}>
    ${error.hint && html`<p>${visible(error.hint)}</p>`}${error.code && html`<p class="faint">${error.code}</p>`}${children}
  <//>`;
}

/** Spinner shows that something is under way. */
export const Spinner = ({ label = "Loading" }) => html`<span class="spinner" role="status"><span class="unseen">${label}</span></span>`;

/** Empty says why there is nothing to see. */
export const Empty = ({ title, children }) => html`<div class="empty"><p class="title">${title}</p>${children && html`<div>${children}</div>`}</div>`;

/**
 * Facts are names and values.
 * @param {{facts: [any, any][]}} props values that are undefined, null, false or "" are left out
 */
export function Facts({ facts }) {
  const shown = facts.filter(([, value]) => value !== undefined && value !== null && value !== false && value !== "");
  return html`<dl class="facts">${shown.map(([name, value], i) => html`<div key=${i}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Badge is a short remark. */
export const Badge = ({ kind = "", title, children }) => html`<span class=${`badge ${kind}`} title=${title}>${children}</span>`;

/**
 * Copy copies a text.
 * @param {{text: string | (() => string|Promise<string>), label?: string}} props
 */
export function Copy({ text, label = "Copy", kind = "plain" }) {
  const [done, setDone] = useState("");
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    let said = "Copied";
    try {
      await navigator.clipboard.writeText(typeof text === "function" ? await text() : text);
    } catch {
      said = "Could not copy";
    }
    setDone(said);
    announce(said);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setDone(""), 2000);
  };
  return html`<${Button} kind=${kind} onClick=${copy}>${done || label}<//>`;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hour12: false });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

/** timeOf writes a moment as Time does, where there can be text only. */
export function timeOf(at) {
  const date = new Date(at);
  return date.toDateString() === new Date().toDateString() ? clock.format(date) : `${day.format(date)} ${clock.format(date)}`;
}

/**
 * Time is a moment; its day is shown if that is not today.
 * @param {{at: string|number|Date}} props
 */
export function Time({ at }) {
  const date = ["string", "number"].includes(typeof at) || at instanceof Date ? new Date(at) : new Date(NaN);
  if (Number.isNaN(date.getTime())) return html`<span>${oneLine(at, 60)}</span>`;
  return html`<time datetime=${date.toISOString()} title=${date.toISOString()}>${timeOf(date)}</time>`;
}

/** spell writes milliseconds for people. */
export function spell(ms) {
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** Duration is a time span. */
export const Duration = ({ ms }) => html`<span class="number">${spell(Number(ms))}</span>`;

/**
 * Masked is a secret, which is shown on demand only.
 * @param {{value: string, label: string}} props label says what it is
 */
export function Masked({ value, label }) {
  const [shown, show] = useState(false);
  return html`<span class="masked">
    <code>${shown ? value : "••••••••"}</code>
    <${Button} kind="link" aria-pressed=${shown ? "true" : "false"} aria-label=${`Show ${label}`} onClick=${() => show(!shown)}>${shown ? "Hide" : "Show"}<//>
  </span>`;
}
