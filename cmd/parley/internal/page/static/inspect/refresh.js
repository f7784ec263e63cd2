// Lists of servers, fetched anew.

import { api } from "../lib/api.js";
import { html, useState } from "../lib/preact.js";
import { Button, ErrorBox } from "../lib/ui.js";

/**
 * Refresh is a button that has lists fetched anew, and then read by the page.
 * @param {{connection: {id: string}, kinds: string[], reload: () => void, loading: boolean}} props
 */
export function Refresh({ connection, kinds, reload, loading }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(undefined);
  const again = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await Promise.all(kinds.map((kind) => api.get(`/connections/${connection.id}/lists/${kind}`, { fresh: 1 })));
      reload();
    } catch (failed) {
      setError(failed);
    }
    setBusy(false);
  };
  return html`<${Button} onClick=${again} busy=${busy || loading}>Refresh<//><${ErrorBox} error=${error} />`;
}

/** Head is the search in a list, with Refresh beside it. */
export function Head({ children, ...refresh }) {
  return html`<div class="row"><div class="grow">${children}</div><${Refresh} ...${refresh} /></div>`;
}
