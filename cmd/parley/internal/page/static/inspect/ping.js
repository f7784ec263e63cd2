// How long the server takes to answer.

import { api } from "../lib/api.js";
import { html, useState } from "../lib/preact.js";
import { Button, Duration, ErrorBox } from "../lib/ui.js";

/** Ping is a button, and what came of pressing it. */
export function Ping({ connection }) {
  const [busy, setBusy] = useState(false);
  const [took, setTook] = useState(undefined);
  const [error, setError] = useState(undefined);
  const ping = async () => {
    setBusy(true);
    setError(undefined);
    setTook(undefined);
    try {
      setTook((await api.post(`/connections/${connection.id}/ping`)).took);
    } catch (failed) {
      setError(failed);
    }
    setBusy(false);
  };
  return html`<p class="actions"><${Button} busy=${busy} onClick=${ping}>Ping<//> <span role="status">${took !== undefined && html`The server answered in <${Duration} ms=${took} />.`}</span></p>
    <${ErrorBox} error=${error} />`;
}
