// A call whose result a view shows: made, followed, given up. It survives a reload of the page.

import { api, useGet } from "../lib/api.js";
import { label } from "../lib/content.js";
import { html, useState } from "../lib/preact.js";
import { href } from "../lib/route.js";
import { ofRun, useKept } from "../lib/state.js";
import { Button, Duration, ErrorBox, Notice, Spinner } from "../lib/ui.js";

const path = (connection, id) => `/connections/${connection.id}/calls/${encodeURIComponent(id)}`;

/**
 * useCall makes calls of which the last one is of interest.
 * @param {{id: string}} connection
 * @param {string} key names what is called, so that its last call is found again
 */
export function useCall(connection, key) {
  const [id, setID] = useKept(ofRun(`call:${connection.id}:${key}`), "");
  const [failure, setFailure] = useState(undefined);
  const mine = (event) => event.connection === connection.id;
  const { data, error } = useGet(id ? path(connection, id) : null, {}, { call: mine });
  const start = async (method, params) => {
    setFailure(undefined);
    try {
      setID((await api.post(`/connections/${connection.id}/calls`, { method, params })).id);
    } catch (failed) {
      setFailure(failed);
    }
  };
  const cancel = () => api.del(path(connection, id)).catch(setFailure);
  const gone = error?.status === 404; // an earlier run of the program made it
  return { call: id && !gone ? data : undefined, error: failure ?? (gone ? undefined : error), running: data?.state === "running" && !gone, start, cancel };
}

/** CallState shows what becomes of a call, apart from its result. */
export function CallState({ connection, made }) {
  const { call, error, running, cancel } = made;
  const question = running && connection.counts?.questions > 0;
  return html`<${ErrorBox} error=${error} />
    ${running &&
    html`<p class="running"><${Spinner} label="The server is working" /> ${label(call.progress?.params?.message ?? "The server is working…", 200)} <${Button} onClick=${cancel}>Cancel<//></p>
      ${question && html`<${Notice} kind="warning" title="The server asks something."><a href=${href([connection.id, "questions"])}>Answer its questions</a><//>`}`}
    ${call?.error && html`<${ErrorBox} error=${call.error} />`} ${call?.ended && !call.error && html`<p class="faint">Answered in <${Duration} ms=${call.tookMs} /></p>`}`;
}
