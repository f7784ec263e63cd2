// Break the network on purpose, and see what the server replays.

import { api, useGet } from "../../lib/api.js";
import { label } from "../../lib/content.js";
import { html, useState } from "../../lib/preact.js";
import { href } from "../../lib/route.js";
import { Button, Dialog, Empty, ErrorBox } from "../../lib/ui.js";

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
  return html`<${Dialog} title="The network was broken" onClose=${onClose}>
    <${ErrorBox} error=${error} /> ${data?.why && html`<p>${data.why}</p>`}
    ${streams.length === 0 && !data?.why && html`<${Empty} title="No stream has been asked for again yet" />`}
    ${streams.map(
      (stream) => html`<div class="card" key=${stream.exchange}>
        <p><a href=${href([connection.id, "traffic"], { exchange: stream.exchange })} onClick=${onClose}>Exchange ${stream.exchange}</a> asked for the stream again${stream.lastEvent ? html` after event <code>${label(stream.lastEvent, 100)}</code>` : ""}${stream.status ? `: HTTP ${stream.status}` : ""}.</p>
        <p>${stream.total === 0 ? "Nothing was replayed." : `${stream.total} frames came on it: ${stream.replayed.slice(0, 20).join(", ")}${stream.total > 20 ? "…" : ""}`}</p>
      </div>`,
    )}
  <//>`;
}
