// The same call, made to two servers.

import { api, useGet } from "../../lib/api.js";
import { diff } from "../../lib/diff.js";
import { parse } from "../../lib/json.js";
import { html, useState } from "../../lib/preact.js";
import { useKept } from "../../lib/state.js";
import { Button, Duration, ErrorBox, Field, Json, Notice, Spinner, TextArea, TextInput } from "../../lib/ui.js";
import { Places } from "./places.js";

const unsent = { left: "", right: "" };

/** Call makes a call over both connections and compares what comes. */
export function Call({ left, right }) {
  const [method, setMethod] = useKept("compare:method", "tools/call");
  const [text, setText] = useKept("compare:params", '{"name": "", "arguments": {}}');
  const [ids, setIDs] = useState(unsent);
  const [error, setError] = useState(undefined);
  const a = useAnswer(left, ids.left);
  const b = useAnswer(right, ids.right);
  const send = async (event) => {
    event.preventDefault();
    setError(undefined);
    try {
      const params = read(text);
      const [one, other] = await Promise.all([left, right].map(({ id }) => api.post(`/connections/${id}/calls`, { method, params })));
      setIDs({ left: one.id, right: other.id });
    } catch (failed) {
      setError(failed);
    }
  };
  return html`<form onSubmit=${send} novalidate>
      <${Field} label="Method"><${TextInput} value=${method} onInput=${setMethod} /><//>
      <${Field} label="Params" hint="JSON. Both servers get the same." error=${error?.field === "params" ? error.message : undefined}><${TextArea} value=${text} onInput=${setText} rows=${5} class="mono" /><//>
      <p><${Button} type="submit" kind="primary" busy=${a.running || b.running}>Call both<//></p>
    </form>
    <${ErrorBox} error=${error?.field === "params" ? undefined : error ?? a.error ?? b.error} />
    ${a.over && b.over && html`<h2>What differs</h2><${Places} places=${diff(outcome(a.call), outcome(b.call))} caption="What differs in the answers" />`}
    <div class="pair"><${Answer} title="Left" of=${a} /> <${Answer} title="Right" of=${b} /></div>`;
}

/** read returns the params that somebody typed. */
function read(text) {
  let params;
  try {
    params = parse(text);
  } catch (error) {
    throw Object.assign(new Error(`This is not JSON: ${error.message}`), { field: "params" });
  }
  if (params === null || typeof params !== "object" || Array.isArray(params)) throw Object.assign(new Error("Params are an object"), { field: "params" });
  return params;
}

const outcome = ({ result, error }) => (error ? { error: { code: error.code, message: error.message } } : { result });

function useAnswer(connection, id) {
  const { data, error } = useGet(id ? `/connections/${connection.id}/calls/${id}` : null, {}, { call: (event) => event.connection === connection.id });
  const running = data?.state === "running";
  return { call: data, error, running, over: data !== undefined && !running };
}

function Answer({ title, of: { call, running } }) {
  if (!call) return null;
  return html`<section aria-label=${title}>
    <h3>${title} ${call.tookMs !== undefined && html`<${Duration} ms=${call.tookMs} />`}</h3>
    ${running && html`<${Spinner} label="The server is working" />`}
    ${call.error && html`<${Notice} kind="error" title=${call.error.message}>${call.error.hint}<//>`} ${call.result !== undefined && html`<${Json} value=${call.result} label="Result" open=${3} />`}
  </section>`;
}
