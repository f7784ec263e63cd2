// Connect anew, break the network on purpose, have a stream resumed, and see what came of it.

import { api, useGet } from "../../lib/api.js";
import { label } from "../../lib/content.js";
import { html, useEffect, useState } from "../../lib/preact.js";
import { go } from "../../lib/route.js";
import { Button, Dialog, Empty, ErrorBox, announce } from "../../lib/ui.js";
import { ResumeAfter } from "./replay.js";
import { Stream } from "./stream.js";

/** Resume is the buttons that reconnect, that break the network, and that resume a stream. */
export function Resume({ connection, lines }) {
  const [open, setOpen] = useState({});
  const path = `/connections/${connection.id}`;
  const mine = (event) => event.connection === connection.id;
  const { data } = useGet(`${path}/replay`, {}, { frames: mine, connection: (event) => event.id === connection.id });
  const close = () => setOpen({});
  const cut = () => api.post(`${path}/resume`).then(({ after }) => setOpen({ after }), (error) => setOpen({ error }));
  return html`<${Reconnect} connection=${connection} lines=${lines} onError=${(error) => setOpen({ error })} />
    ${connection.target.kind === "url" && html`<${Button} onClick=${cut} disabled=${connection.state !== "up"}>Break the network<//>`}
    <${Button} onClick=${() => setOpen({ resume: true })} disabled=${!data || data.why !== ""} aria-describedby=${data?.why ? "why-not-resumed" : undefined}>Resume a stream…<//>
    ${data?.why && html`<p class="faint" id="why-not-resumed">Nothing to resume: ${data.why}</p>`}
    ${open.error && html`<${Dialog} title="That did not work" onClose=${close}><${ErrorBox} error=${open.error} /><//>`}
    ${open.after !== undefined && html`<${Broken} connection=${connection} after=${open.after} onClose=${close} />`} ${open.resume && html`<${ResumeAfter} connection=${connection} onClose=${close} />`}`;
}

/** Reconnect connects anew, and leads to what came of it once the client has sent something. */
function Reconnect({ connection, lines, onError }) {
  const [before, setBefore] = useState(undefined); // the newest line when the button was pressed
  const newest = lines.at(-1);
  useEffect(() => {
    if (before === undefined || !newest || newest.connection <= before) return;
    setBefore(undefined);
    announce("Connected anew");
    go([connection.id, "traffic"], { line: newest.connection });
  }, [before, newest?.connection]);
  const again = () => {
    setBefore(newest?.connection ?? 0);
    api.post(`/connections/${connection.id}/reconnect`).catch((error) => {
      setBefore(undefined);
      onError(error);
    });
  };
  return html`<${Button} onClick=${again} busy=${before !== undefined && connection.state === "connecting"}>Reconnect<//>`;
}

/** Broken shows which streams were asked for again after the network was broken, and what came on them. */
function Broken({ connection, after, onClose }) {
  const { data, error } = useGet(`/connections/${connection.id}/resume`, { after }, { frames: (event) => event.connection === connection.id });
  const streams = data?.streams ?? [];
  return html`<${Dialog} title="The network was broken" onClose=${onClose} wide=${true}>
    <${ErrorBox} error=${error} /> ${data?.why && html`<p>${label(data.why, 1000)}</p>`}
    ${streams.length === 0 && !data?.why && html`<${Empty} title="No stream has been asked for again yet" />`}
    <div class="stack">${streams.map((stream) => html`<${Stream} key=${stream.exchange} connection=${connection} stream=${stream} onLeave=${onClose} />`)}</div>
  <//>`;
}
