// One request with all that belongs to it: progress, questions, rounds, streams, retries.

import { api, useGet } from "../../lib/api.js";
import { Cut, label } from "../../lib/content.js";
import { html, useState } from "../../lib/preact.js";
import { go, href } from "../../lib/route.js";
import { Badge, Button, Check, Copy, Duration, ErrorBox, Notice, Spinner, VirtualList } from "../../lib/ui.js";
import { colours, indexOf, useRows } from "./list.js";

const states = { done: "good", open: "accent", error: "error", refused: "error", lost: "error", cancelled: "warning", "given-up": "warning", input_required: "accent" };
const why = { question: "asked while it was served", round: "again, with the input", repeat: "again, after a refusal", task: "about its task", resumed: "the rest of its stream" };
const forms = { curl: "curl", parley: "parley command", go: "Go test" };

const mostExchanges = 200; // a task that was asked for its state for hours has many more

/** Exchange shows an exchange with all that belongs to it, in the order of time. */
export function Exchange({ connection, number }) {
  // One frame is the least that can be asked for: the timeline reads those that are in sight.
  const { data, error } = useGet(`/connections/${connection.id}/exchanges/${number}`, { limit: 1 }, { frames: (event) => event.connection === connection.id });
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (!data) return html`<${Spinner} />`;
  const { exchanges, total } = data;
  const [first] = exchanges;
  return html`<h3>${label(first.method, 100)} ${label(first.subject ?? "", 100)}</h3>
    <ul class="family">${exchanges.slice(0, mostExchanges).map((x) => html`<${One} key=${x.n} x=${x} connection=${connection} current=${String(x.n) === String(number)} />`)}</ul>
    ${exchanges.length > mostExchanges && html`<p class="faint">${exchanges.length - mostExchanges} more belong to it.</p>`}
    <${CopyAs} connection=${connection} number=${first.n} />
    <p class="faint">${total === 1 ? "One frame" : `${total} frames`}, in the order of time.</p>
    <${Timeline} key=${first.n} connection=${connection} exchange=${first} />`;
}

function One({ x, connection, current }) {
  return html`<li>
    <a href=${href([connection.id, "traffic"], { exchange: x.n })} aria-current=${current ? "true" : undefined}>${x.n}</a> <code>${label(x.method, 80)}</code> <${Badge} kind=${states[x.state]}>${x.state}<//>
    ${x.why && html` <span class="faint">${why[x.why] ?? x.why}${x.inferred ? ", as far as one can tell" : ""}</span>`} ${x.status > 0 && html` <span class="number">HTTP ${x.status}</span>`} ${x.took !== undefined && html` <${Duration} ms=${x.took} />`}
    <span class="faint"> by the ${x.aside ? "page" : x.asker}</span>
  </li>`;
}

const rowHeight = 32;
const mostRows = 14; // in sight at a time

/** Timeline is when each frame travelled: of any number, only those in sight are read and drawn. */
function Timeline({ connection, exchange }) {
  const path = `/connections/${connection.id}`;
  const { data, error } = useGet(`${path}/frames/numbers`, { exchange: exchange.n }, { frames: (event) => event.connection === connection.id });
  const rows = useRows(path);
  if (error && !data) return html`<${ErrorBox} error=${error} />`;
  if (!data) return html`<${Spinner} />`;
  const index = indexOf(data.runs);
  const began = new Date(exchange.started).getTime();
  const offset = (row) => Math.max(0, new Date(row.time).getTime() - began);
  const last = index.count > 0 ? rows.at(index, index.count - 1) : undefined;
  const span = Math.max(1, last ? offset(last) : 1);
  const row = (i) => html`<${Moment} n=${index.at(i)} row=${rows.at(index, i)} offset=${offset} span=${span} />`;
  const pick = (i) => go([connection.id, "traffic"], { n: index.at(i) });
  return html`<div class="timeline" style=${{ height: `${Math.min(index.count, mostRows) * rowHeight + 2}px` }}>
    <${VirtualList} label="Frames of the exchange" count=${index.count} rowHeight=${rowHeight} row=${row} keyOf=${(i) => index.at(i)} onPick=${pick} />
  </div>`;
}

/** Moment is a frame in the timeline. */
function Moment({ n, row, offset, span }) {
  if (!row) return html`<span class="frame-row"><span class="faint number n">${n}</span></span>`;
  return html`<span class="frame-row">
    <span class="faint number n">${n}</span> <span class="number after"><${Duration} ms=${offset(row)} /><progress class="at" max=${span} value=${Math.min(span, offset(row))} aria-hidden="true"></progress></span>
    <span aria-label=${row.direction}>${row.direction === "sent" ? "→" : "←"}</span> <${Badge} kind=${colours[row.kind]}>${row.kind}<//>${row.replayed && html` <${Badge} kind="warning">replayed<//>`}
    <span class="what">${label(row.method ?? "", 80)} ${row.status > 0 ? row.status : ""}${row.event && html` <span class="faint">event ${label(row.event, 100)}</span>`}</span>
  </span>`;
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
