// One frame: its message, its bytes, its HTTP, and what belongs to it.

import { api, useGet } from "../../lib/api.js";
import { Cut, label } from "../../lib/content.js";
import { html, useEffect, useState } from "../../lib/preact.js";
import { go } from "../../lib/route.js";
import { useKept } from "../../lib/state.js";
import { Badge, Button, Copy, ErrorBox, Facts, Json, Notice, Spinner, Tabs, Time } from "../../lib/ui.js";
import { Exchange } from "./exchange.js";
import { colours } from "./list.js";
import { ResumeAfter } from "./replay.js";

/** Frame shows a frame. */
export function Frame({ connection, number }) {
  const { data, error } = useGet(`/connections/${connection.id}/frames/${number}`);
  const [tab, setTab] = useKept("traffic:tab", "message");
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (!data) return html`<${Spinner} />`;
  const { frame, http } = data;
  const tabs = [{ id: "message", title: "Message" }, { id: "raw", title: "Raw" }, http && { id: "http", title: "HTTP" }, frame.exchange && { id: "exchange", title: "Exchange" }].filter(Boolean);
  const current = tabs.some(({ id }) => id === tab) ? tab : "message";
  return html`<h2>Frame ${frame.n} <${Badge} kind=${colours[frame.kind]}>${frame.kind}<//> ${label(frame.method ?? "", 100)}</h2>
    <${Tabs} label="What to see of the frame" tabs=${tabs} current=${current} onChange=${setTab}>
      ${current === "message" && html`<${Message} connection=${connection} frame=${frame} />`} ${current === "raw" && html`<${Raw} connection=${connection} frame=${frame} />`}
      ${current === "http" && html`<${HTTP} http=${http} />`} ${current === "exchange" && html`<${Exchange} connection=${connection} number=${frame.exchange} />`}
    <//>`;
}

function Message({ connection, frame }) {
  return html`<${Facts}
      facts=${[
        ["At", html`<${Time} at=${frame.time} />`],
        ["Direction", frame.direction],
        ["ID", frame.id && html`<code>${label(frame.id, 200)}</code>`],
        ["About", label(frame.subject ?? "", 300)],
        ["Bytes", frame.size],
        ["Event", frame.event && html`<code>${label(frame.event, 200)}</code>${frame.replayed ? ", which had come before" : ""}`],
        ["Session", label(frame.session ?? "", 200)],
        ["Exchange", frame.exchange > 0 && html`<${Button} kind="link" onClick=${() => go([connection.id, "traffic"], { exchange: frame.exchange })}>${frame.exchange}: all that belongs to it<//>`],
      ]}
    />
    ${frame.aside && html`<p class="faint">The page asked for this, and the client got none of it.</p>`} <${Resuming} connection=${connection} frame=${frame} />
    ${frame.dropped && html`<${Notice} kind="warning" title=${`Dropped: ${frame.dropped}`}>${label(frame.explain ?? "", 1000)} ${label(frame.error ?? "", 1000)}<//>`}
    ${frame.message !== undefined && html`<${Json} value=${frame.message} label="Message" open=${4} />`} ${frame.text && html`<${Cut} text=${frame.text} />`}
    ${frame.base64 && html`<p>These bytes are no text.</p>`}`;
}

/** Resuming has the stream of an event resumed after it, while its session lasts. */
function Resuming({ connection, frame }) {
  const [open, setOpen] = useState(false);
  const lasts = connection.state === "up" && (frame.session ?? "") === (connection.session ?? "");
  if (!frame.event || frame.kind === "http" || !lasts) return null;
  return html`<p><${Button} onClick=${() => setOpen(true)}>Resume after this event…<//></p>
    ${open && html`<${ResumeAfter} connection=${connection} event=${frame.event} onClose=${() => setOpen(false)} />`}`;
}

function Raw({ connection, frame }) {
  const path = `/connections/${connection.id}/frames/${frame.n}/raw`;
  const [text, setText] = useState(undefined);
  const [error, setError] = useState(undefined);
  useEffect(() => {
    let wanted = true;
    api.blob(path).then(async (blob) => {
      const read = await blob.text();
      if (wanted) setText(read);
    }, setError);
    return () => {
      wanted = false;
    };
  }, [path]);
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (text === undefined) return html`<${Spinner} />`;
  return html`<p class="row"><${Copy} text=${text} /> <${Button} onClick=${() => api.download(path, `frame-${frame.n}.json`)}>Save<//></p>
    ${text === "" ? html`<p class="faint">There are no bytes: this is the beginning of an HTTP request or response.</p>` : html`<${Cut} text=${text} />`}`;
}

function HTTP({ http: { request, response } }) {
  return html`${request && html`<h3>Request</h3><${Headers} of=${request} first=${request.method} />`} ${response && html`<h3>Response ${response.status}</h3><${Headers} of=${response} />`}`;
}

function Headers({ of, first }) {
  const rows = Object.entries(of.header ?? {}).sort();
  return html`<table class="headers">
    <caption class="unseen">Headers ${first ?? ""}</caption>
    <tbody>${rows.map(([name, values]) => html`<tr key=${name}><th scope="row">${label(name, 100)}</th><td>${values.map((value, i) => html`<div key=${i}>${label(value, 2000)}</div>`)}</td></tr>`)}</tbody>
  </table>`;
}
