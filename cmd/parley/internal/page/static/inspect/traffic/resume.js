// Break the network on purpose, and see what the server replays.

import { api, useGet } from "../../lib/api.js";
import { label } from "../../lib/content.js";
import { html, useRef, useState } from "../../lib/preact.js";
import { href } from "../../lib/route.js";
import { Badge, Button, Dialog, Empty, ErrorBox } from "../../lib/ui.js";
import { colours } from "./list.js";

const mostShown = 50;

/** Resume is the buttons that reconnect, and that break the network. */
export function Resume({ connection }) {
  const [after, setAfter] = useState(undefined);
  const [error, setError] = useState(undefined);
  const path = `/connections/${connection.id}`;
  const cut = () => api.post(`${path}/resume`).then((done) => setAfter(done.after), setError);
  const again = () => api.post(`${path}/reconnect`).catch(setError);
  return html`<${Button} onClick=${again}>Reconnect<//> ${connection.target.kind === "url" && html`<${Button} onClick=${cut} disabled=${connection.state !== "up"}>Break the network<//>`}
    ${error && html`<${Dialog} title="That did not work" onClose=${() => setError(undefined)}><${ErrorBox} error=${error} /><//>`} ${after !== undefined && html`<${Replayed} connection=${connection} after=${after} onClose=${() => setAfter(undefined)} />`}`;
}

/** Replayed shows what came again after the network was broken. */
function Replayed({ connection, after, onClose }) {
  const { data, error } = useGet(`/connections/${connection.id}/resume`, { after }, { frames: (event) => event.connection === connection.id });
  const streams = data?.streams ?? [];
  return html`<${Dialog} title="The network was broken" onClose=${onClose} wide=${true}>
    <${ErrorBox} error=${error} /> ${data?.why && html`<p>${data.why}</p>`}
    ${streams.length === 0 && !data?.why && html`<${Empty} title="No stream has been asked for again yet" />`}
    <div class="stack">${streams.map(
      (stream) => html`<div class="card" key=${stream.exchange}>
        <p><a href=${href([connection.id, "traffic"], { exchange: stream.exchange })} onClick=${onClose}>Exchange ${stream.exchange}</a> asked for the stream again${stream.lastEvent ? html` after event <code>${label(stream.lastEvent, 100)}</code>` : ""}${stream.status ? `: HTTP ${stream.status}` : ""}.</p>
        <${Brought} connection=${connection} stream=${stream} onClose=${onClose} />
      </div>`,
    )}</div>
  <//>`;
}

/** Brought lists what came on a stream after it was asked for again, with the IDs of its events. */
function Brought({ connection, stream, onClose }) {
  const numbers = stream.replayed.slice(0, mostShown);
  const { data, error } = useGet(numbers.length > 0 ? `/connections/${connection.id}/frames` : null, { n: numbers.join(",") });
  const shown = useRef([]);
  if (data) shown.current = data.frames; // what was read last stays while more is read
  if (numbers.length === 0) return html`<p class="faint">Nothing has come on it.</p>`;
  return html`<p>${stream.total === 1 ? "One message" : `${stream.total} messages`} came on it${stream.total > numbers.length ? `; these are the first ${numbers.length}` : ""}.</p>
    <${ErrorBox} error=${error} />
    <table class="brought">
      <caption class="unseen">What came on the stream</caption>
      <thead><tr><th scope="col">Frame</th><th scope="col">Event</th><th scope="col">What</th></tr></thead>
      <tbody>
        ${shown.current.map(
          (frame) => html`<tr key=${frame.n}>
            <td><a href=${href([connection.id, "traffic"], { n: frame.n })} onClick=${onClose}>${frame.n}</a></td>
            <td>${frame.event ? html`<code>${label(frame.event, 100)}</code>` : html`<span class="faint">none</span>`}</td>
            <td><${Badge} kind=${colours[frame.kind]}>${frame.kind}<//> ${label(frame.method ?? "", 80)} <span class="faint">${label(frame.subject ?? "", 80)}</span></td>
          </tr>`,
        )}
      </tbody>
    </table>`;
}
