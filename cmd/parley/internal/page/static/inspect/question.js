// One question of a server's.

import { api } from "../lib/api.js";
import { Marked, label } from "../lib/content.js";
import { html, useEffect, useState } from "../lib/preact.js";
import { href } from "../lib/route.js";
import { Badge, ErrorBox, Json, Time } from "../lib/ui.js";
import { Form } from "./question_form.js";
import { Sampling } from "./question_sampling.js";
import { Visit, Visited } from "./question_visit.js";

const kinds = { form: "A form", url: "A page to visit", sampling: "A model's answer" };
const bodies = { form: Form, url: Visit, sampling: Sampling };

/** useAnswer sends answers to a question. */
function useAnswer(connection, question) {
  const [error, setError] = useState(undefined);
  const [busy, setBusy] = useState(false);
  const send = async (answer) => {
    setBusy(true);
    setError(undefined);
    try {
      await api.post(`/connections/${connection.id}/questions/${question.id}/answer`, answer); // the question goes then
    } catch (failed) {
      setError(failed);
      setBusy(false);
    }
  };
  return { send, error, busy };
}

/** Question is a question that waits. */
export function Question({ connection, question, samplingDeprecated }) {
  const answer = useAnswer(connection, question);
  const Body = bodies[question.kind];
  return html`<section class="question" aria-label=${`${kinds[question.kind]}, question ${question.id}`}>
    <header>
      <h2>${kinds[question.kind]}</h2>
      <span class="faint"><${From} connection=${connection} call=${question.call} /> · <${Left} until=${question.until} /></span>
    </header>
    ${question.note && html`<p class="hint">No rule answered this: ${label(question.note, 500)}</p>`}
    ${question.kind === "sampling" && samplingDeprecated && html`<p class="hint">This revision of the protocol deprecates sampling: servers are to call models themselves.</p>`}
    <${Body} connection=${connection} question=${question} answer=${answer} /> <${ErrorBox} error=${answer.error} />
  </section>`;
}

/** From says which call asks. */
function From({ connection, call }) {
  if (!call) return html`asked outside of any call`;
  const name = html`${label(call.method, 60)} ${call.subject && html`<strong>${label(call.subject, 100)}</strong>`}`;
  const to = call.method === "tools/call" && call.subject && href([connection.id, "tools", call.subject]);
  return html`asked by ${call.inferred && html`(probably) `}${to ? html`<a href=${to}>${name}</a>` : name}`;
}

/** Left is a clock that shows how long a question waits. */
function Left({ until }) {
  const end = new Date(until).getTime();
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((end - now) / 1000));
  const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return html`<span class=${seconds < 60 ? "soon" : ""} role="timer" aria-live="off">${text} left</span>`;
}

const outcome = (question) => {
  if (question.state !== "answered") return { expired: "nobody answered in time", withdrawn: "withdrawn" }[question.state] ?? question.state;
  return { accept: "accepted", decline: "declined", cancel: "cancelled" }[question.answer?.action] ?? "answered";
};

/** Answered is a question that is over. */
export function Answered({ connection, question }) {
  const kind = question.state === "answered" && question.answer?.action === "accept" ? "good" : "";
  const message = question.params?.message ?? question.params?.systemPrompt ?? "";
  return html`<li>
    <details>
      <summary><${Badge} kind=${kind}>${outcome(question)}<//> ${kinds[question.kind]} · <${Time} at=${question.ended ?? question.asked} />${question.rule && html` · by the rule <strong>${label(question.rule, 100)}</strong>`} <span class="faint">${label(message, 120)}</span></summary>
      <p class="faint"><${From} connection=${connection} call=${question.call} /></p>
      ${question.note && html`<p>${label(question.note, 500)}</p>`} ${question.kind === "url" && html`<${Visited} connection=${connection} question=${question} />`}
      ${message !== "" && html`<p class="prose"><${Marked} text=${message} lines /></p>`}
      <h3>Asked</h3>
      <${Json} value=${question.params} label="What the server asked" open=${1} /> ${question.answer && html`<h3>Answered</h3><${Json} value=${question.answer} label="What was answered" />`}
    </details>
  </li>`;
}
