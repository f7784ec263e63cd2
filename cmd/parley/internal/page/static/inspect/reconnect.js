// What there is to say, and to do, where a connection is gone.

import { api } from "../lib/api.js";
import { html, useState } from "../lib/preact.js";
import { href } from "../lib/route.js";
import { label } from "../lib/text.js";
import { Button, ErrorBox, Notice } from "../lib/ui.js";

const gone = { lost: "The connection is lost.", failed: "It is not connected.", closed: "It is disconnected." };

/** isGone says whether a connection is neither up nor on the way. */
export const isGone = ({ state }) => state in gone;

/** Reconnect is a button that connects anew. */
export function Reconnect({ connection }) {
  const [state, setState] = useState({});
  const act = () => {
    setState({ busy: true });
    api.post(`/connections/${connection.id}/reconnect`).then(
      () => setState({}),
      (error) => setState({ error }),
    );
  };
  return html`<${Button} busy=${state.busy} onClick=${act}>Reconnect<//><${ErrorBox} error=${state.error} />`;
}

/** Gone says, above every view but the overview, that the connection is gone. */
export function Gone({ connection, here }) {
  if (!connection || !isGone(connection) || here.view === "overview") return null;
  return html`<${Notice} kind=${connection.state === "closed" ? "warning" : "error"} urgent=${true} title=${`${label(connection.title || connection.id, 60)}: ${gone[connection.state]}`}>
    <div class="row">${connection.revision && html`<span>What you see is what was known last.</span>`}<${Reconnect} connection=${connection} /><a href=${href([connection.id])}>Why</a></div>
  <//>`;
}

/** Unfetched is why a list could not be fetched. That the connection is gone is said above the view. */
export const Unfetched = ({ connection, error }) => !isGone(connection) && html`<${ErrorBox} error=${error && { ...error, message: `The list could not be fetched: ${error.message}` }} />`;
