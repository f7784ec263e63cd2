// One request with all that belongs to it: progress, questions, rounds, streams, retries.

import { api, useGet } from "../../lib/api.js";
import { Cut, label } from "../../lib/content.js";
import { html, useState } from "../../lib/preact.js";
import { go, href } from "../../lib/route.js";
import { Badge, Button, Check, Copy, Duration, ErrorBox, Notice, Spinner } from "../../lib/ui.js";
import { colours } from "./list.js";

const states = { done: "good", open: "accent", error: "error", refused: "error", lost: "error", cancelled: "warning", "given-up": "warning", input_required: "accent" };
const why = { question: "asked while it was served", round: "again, with the input", repeat: "again, after a refusal", task: "about its task", resumed: "the rest of its stream" };
const forms = { curl: "curl", parley: "parley command", go: "Go test" };

/** Exchange shows an exchange with all that belongs to it, in the order of time. */
export function Exchange({ connection, number }) {
  const { data, error } = useGet(`/connections/${connection.id}/exchanges/${number}`, {}, { frames: (event) => event.connection === connection.id });
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (!data) return html`<${Spinner} />`;
  const { exchanges, frames, total } = data;
  const [first] = exchanges;
  return html`<h3>${label(first.method, 100)} ${label(first.subject ?? "", 100)}</h3>
    <ul class="family">${exchanges.map((x) => html`<${One} key=${x.n} x=${x} connection=${connection} current=${String(x.n) === String(number)} />`)}</ul>
    <${CopyAs} connection=${connection} number=${first.n} />
    <${Timeline} connection=${connection} frames=${frames} began=${first.started} />
    ${total > frames.length && html`<p class="faint">${total - frames.length} more frames are not shown here.</p>`}`;
}

function One({ x, connection, current }) {
  return html`<li>
    <a href=${href([connection.id, "traffic"], { exchange: x.n })} aria-current=${current ? "true" : undefined}>${x.n}</a> <code>${label(x.method, 80)}</code> <${Badge} kind=${states[x.state]}>${x.state}<//>
    ${x.why && html` <span class="faint">${why[x.why] ?? x.why}${x.inferred ? ", as far as one can tell" : ""}</span>`} ${x.status > 0 && html` <span class="number">HTTP ${x.status}</span>`} ${x.took !== undefined && html` <${Duration} ms=${x.took} />`}
    <span class="faint"> by the ${x.asker}</span>
  </li>`;
}

/** Timeline draws when each frame travelled. */
function Timeline({ connection, frames, began }) {
  const start = new Date(began).getTime();
  const span = Math.max(1, ...frames.map(({ time }) => new Date(time).getTime() - start));
  const offset = (frame) => new Date(frame.time).getTime() - start;
  return html`<table class="timeline">
    <caption class="unseen">Frames in the order of time</caption>
    <thead><tr><th scope="col">After</th><th scope="col">Frame</th><th scope="col">What</th></tr></thead>
    <tbody>
      ${frames.map(
        (frame) => html`<tr key=${frame.n}>
          <td class="number"><${Duration} ms=${Math.max(0, offset(frame))} /><progress class="at" max=${span} value=${Math.max(0, offset(frame))} aria-hidden="true"></progress></td>
          <td><${Button} kind="link" onClick=${() => go([connection.id, "traffic"], { n: frame.n })}>${frame.n}<//></td>
          <td><span aria-label=${frame.direction}>${frame.direction === "sent" ? "→" : "←"}</span> <${Badge} kind=${colours[frame.kind]}>${frame.kind}<//> ${label(frame.method ?? "", 80)} ${frame.status > 0 ? frame.status : ""}${frame.event && html` <span class="faint">event <code>${label(frame.event, 100)}</code></span>`}</td>
        </tr>`,
      )}
    </tbody>
  </table>`;
}

/** CopyAs shows a request in a form that makes it again elsewhere. */
function CopyAs({ connection, number }) {
  const [copied, setCopied] = useState(undefined);
  const [error, setError] = useState(undefined);
  const [secrets, setSecrets] = useState(false); // not kept: each look at secrets is asked for
  const make = async (form, whole) => {
    setError(undefined);
    try {
      setCopied({ form, ...(await api.get(`/connections/${connection.id}/exchanges/${number}/as/${form}`, { secrets: whole ? 1 : undefined })) });
    } catch (failed) {
      setCopied(undefined);
      setError(failed);
    }
  };
  const choose = (whole) => {
    setSecrets(whole);
    if (copied) make(copied.form, whole);
  };
  return html`<div class="row"><span>Copy as</span> ${Object.entries(forms).map(([form, title]) => html`<${Button} key=${form} aria-pressed=${copied?.form === form ? "true" : "false"} onClick=${() => make(form, secrets)}>${title}<//>`)} <${Check} label="With secrets" checked=${secrets} onChange=${choose} /></div>
    <${ErrorBox} error=${error} />
    ${copied && html`<div class="copied"><p class="row"><${Copy} text=${copied.text} /></p>${copied.notes?.length > 0 && html`<${Notice}>${copied.notes.map((note, i) => html`<p key=${i}>${note}</p>`)}<//>`}<${Cut} text=${copied.text} /></div>`}`;
}
