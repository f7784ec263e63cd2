// Have a stream resumed after an event of choice, and see what the server replays.

import { api, useGet } from "../../lib/api.js";
import { Cut, label } from "../../lib/content.js";
import { html, useState } from "../../lib/preact.js";
import { Button, Dialog, ErrorBox, Field, Notice, Select, Spinner } from "../../lib/ui.js";
import { Stream } from "./stream.js";

/**
 * ResumeAfter is the window in which a stream is resumed.
 * @param {{connection: object, event?: string, onClose: () => void}} props event is the one to begin with; without it, it is the last that came
 */
export function ResumeAfter({ connection, event, onClose }) {
  const path = `/connections/${connection.id}/replay`;
  const { data, error } = useGet(path);
  const [chosen, choose] = useState(event);
  const [state, setState] = useState({});
  const after = chosen ?? data?.events[0]?.event ?? "";
  const resume = async (submitted) => {
    submitted.preventDefault();
    setState({ busy: true });
    try {
      setState({ begun: await api.post(path, { event: after }) });
    } catch (failed) {
      setState({ error: failed });
    }
  };
  const { begun, busy } = state;
  return html`<${Dialog} title="Resume a stream" onClose=${onClose} wide=${true}>
    <${ErrorBox} error=${error} /> ${!data && !error && html`<${Spinner} />`}
    ${data?.why && html`<${Notice}>${label(data.why, 1000)}<//>`}
    ${data && !data.why && html`<form onSubmit=${resume} novalidate>
      <p>The page asks the server for what came after an event (<code>Last-Event-ID</code>), as a client does that has lost the rest of its stream. What comes is shown here, and the client gets none of it. A server that takes the stream away from the client for this has the client resume it, too.</p>
      <${Field} label="After which event" hint="The last 50 that came, the newest first."><${Select} value=${after} onChange=${choose} options=${options(data.events, event)} /><//>
      <p><${Button} type="submit" kind="primary" busy=${busy}>Resume<//></p>
    </form>`}
    <${ErrorBox} error=${state.error} /> ${begun && html`<${Outcome} key=${begun.after} connection=${connection} begun=${begun} onLeave=${onClose} />`}
  <//>`;
}

/** options are the events that came last, and the one that was asked for if it is older. */
function options(rows, wanted) {
  const known = rows.map(({ event, n, method, kind }) => ({ value: event, label: `${label(event, 80)} · frame ${n} · ${label(method ?? kind, 60)}` }));
  return !wanted || known.some(({ value }) => value === wanted) ? known : [...known, { value: wanted, label: label(wanted, 80) }];
}

/** Outcome shows how the server answered, and what came, to the page and to the client. */
function Outcome({ connection, begun, onLeave }) {
  const { data, error } = useGet(`/connections/${connection.id}/resume`, { after: begun.after }, { frames: (event) => event.connection === connection.id });
  const refused = begun.status !== 200 || begun.said;
  return html`<${ErrorBox} error=${error} />
    ${refused && html`<${Notice} kind="error" urgent=${true} title=${begun.status === 200 ? "The server answered with something else than a stream" : `The server refused with HTTP ${begun.status}`}>${begun.said ? html`<${Cut} text=${begun.said} />` : "It did not say why."} ${begun.status === 409 && html`<p>The stream is still read by the client, from whom this server does not take it. Break the network, and see what the client is given.</p>`}<//>`}
    <div class="stack">${data?.streams.map((stream) => html`<${Stream} key=${stream.exchange} connection=${connection} stream=${stream} onLeave=${onLeave} />`)}</div>`;
}
