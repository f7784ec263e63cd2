// Where the user says to which server to connect: by a form, or out of a configuration file.

import { api, useGet } from "../lib/api.js";
import { html, useEffect, useState } from "../lib/preact.js";
import { go, href } from "../lib/route.js";
import { useKept } from "../lib/state.js";
import { label } from "../lib/text.js";
import { Button, ErrorBox, Spinner } from "../lib/ui.js";
import { Found } from "./connect-found.js";
import { Form } from "./connect-form.js";
import { Inputs, wanted } from "./connect-inputs.js";
import { blank, bodyOf, formOf, withoutSecrets } from "./connect-model.js";

const mostRecent = 8;

/** View is the page on which one connects; with "like" it changes how a connection is made. */
export function View({ route }) {
  const like = route.params.like;
  const { data: about } = useGet("/");
  const { data: old, error } = useGet(like ? `/connections/${encodeURIComponent(like)}` : null);
  const [recent, setRecent] = useKept("recent", []);
  if (like && !old) return html`<h1>Change a connection</h1>${error ? html`<${ErrorBox} error=${error} />` : html`<${Spinner} />`}`;
  const connected = (connection, form) => {
    const entry = { text: connection.title, form: withoutSecrets(form) };
    setRecent((before) => [entry, ...before.filter(({ text }) => text !== entry.text)].slice(0, mostRecent));
    go([connection.id]);
  };
  return html`<div class="connect">
    <h1>${like ? `Change ${label(old.title)}` : "Connect to a server"}</h1>
    <${Filled} key=${like ?? ""} about=${about} old=${like ? old : undefined} onConnected=${connected} />
    ${!like && recent.length > 0 && html`<${Recent} recent=${recent} onConnected=${connected} onForget=${() => setRecent([])} />`} ${!like && html`<${Found} onConnected=${connected} />`}
  </div>`;
}

/** Filled is the form with what is in it. What is typed survives a reload, except for secrets. */
function Filled({ about, old, onConnected }) {
  const [kept, setKept] = useKept(old ? `connect:${old.id}` : "connect", undefined);
  const [form, setForm] = useState(() => ({ ...blank, ...(old ? formOf(old) : {}), ...kept }));
  const [error, setError] = useState(undefined);
  const [busy, setBusy] = useState(false);
  useEffect(() => setKept(withoutSecrets(form)), [form]);
  const submit = async (body) => {
    setBusy(true);
    setError(undefined);
    try {
      const connection = await api.post(old ? `/connections/${old.id}/reconnect` : "/connections", body);
      setKept(undefined);
      onConnected(connection, form);
    } catch (failed) {
      setError(failed);
      setBusy(false);
    }
  };
  return html`<${Form} form=${form} onChange=${setForm} about=${about} error=${error} busy=${busy} changing=${Boolean(old)} onSubmit=${submit} />`;
}

function Recent({ recent, onConnected, onForget }) {
  const [error, setError] = useState(undefined);
  const [asking, ask] = useState(undefined);
  const connect = async (form) => {
    setError(undefined);
    if (wanted(form.inputs).length > 0) {
      ask(form);
      return;
    }
    try {
      onConnected(await api.post("/connections", bodyOf(form)), form);
    } catch (failed) {
      setError(failed);
    }
  };
  return html`<section class="card" aria-label="Recent">
    <div class="row"><h2 class="grow">Recent in this tab</h2><${Button} kind="link" onClick=${onForget}>Forget these<//></div>
    <ul class="servers">
      ${recent.map(({ text, form }) => html`<li key=${text}><code class="grow">${label(text, 300)}</code><${Button} aria-label=${`Connect to ${label(text, 100)}`} onClick=${() => connect(form)}>Connect<//></li>`)}
    </ul>
    <${ErrorBox} error=${error}><a href=${href("home")}>Fill in the form</a> if a secret is missing.<//>
    ${asking && html`<${Inputs} entry=${asking.entry} inputs=${asking.inputs} onConnected=${onConnected} onClose=${() => ask(undefined)} />`}
  </section>`;
}

