// Where the user says to which server to connect: by a form, or out of a configuration file.

import { api, useGet } from "../lib/api.js";
import { html, useEffect, useRef, useState } from "../lib/preact.js";
import { go } from "../lib/route.js";
import { ofRun, useKept } from "../lib/state.js";
import { label } from "../lib/text.js";
import { Button, ErrorBox, Notice, Spinner } from "../lib/ui.js";
import { Found } from "./connect-found.js";
import { Form } from "./connect-form.js";
import { Inputs, wanted } from "./connect-inputs.js";
import { blank, bodyOf, formOf, lacksSecrets, recentOf, withoutSecrets } from "./connect-model.js";

const mostRecent = 8;

/** View is the page on which one connects; with "like" it changes how a connection is made. */
export function View({ route }) {
  const like = route.params.like;
  const { data: about } = useGet("/");
  const { data: old, error } = useGet(like ? `/connections/${encodeURIComponent(like)}` : null);
  const [recent, setRecent] = useKept("recent", []);
  const [start, setStart] = useState(undefined); // a recent one, to be completed
  if (like && !old) return html`<h1>Change a connection</h1>${error ? html`<${ErrorBox} error=${error} />` : html`<${Spinner} />`}`;
  const connected = (connection, form) => {
    const entry = recentOf(connection, form);
    setRecent((before) => [entry, ...before.filter(({ text }) => text !== entry.text)].slice(0, mostRecent));
    go([connection.id]);
  };
  return html`<div class="connect">
    <h1>${like ? `Change ${label(old.title)}` : "Connect to a server"}</h1>
    <${Filled} key=${like ?? start?.text ?? ""} about=${about} old=${like ? old : undefined} start=${like ? undefined : start?.form} onConnected=${connected} />
    ${!like && recent.length > 0 && html`<${Recent} recent=${recent} onConnected=${connected} onFill=${setStart} onForget=${() => setRecent([])} />`} ${!like && html`<${Found} onConnected=${connected} />`}
  </div>`;
}

/** Filled is the form with what is in it. What is typed survives a reload, except for secrets. */
function Filled({ about, old, start, onConnected }) {
  const [kept, setKept] = useKept(old ? ofRun(`connect:${old.id}`) : "connect", undefined);
  const [form, setForm] = useState(() => ({ ...blank, ...(old ? formOf(old) : {}), ...(start ?? kept) }));
  const [error, setError] = useState(undefined);
  const [busy, setBusy] = useState(false);
  const root = useRef(null);
  const forget = useDraft(form, setKept);
  useEffect(() => start && root.current.querySelector("input").focus(), []);
  const submit = async (body) => {
    setBusy(true);
    setError(undefined);
    try {
      const connection = await api.post(old ? `/connections/${old.id}/reconnect` : "/connections", body);
      forget();
      onConnected(connection, form);
    } catch (failed) {
      setError(failed);
      setBusy(false);
    }
  };
  return html`<div ref=${root}>
    ${!old && lacksSecrets(form) && html`<${Notice} kind="warning" title="Type the secrets again.">They are not kept in the browser; <code>***</code> stands in their place.<//>`}
    <${Form} form=${form} onChange=${setForm} about=${about} error=${error} busy=${busy} changing=${Boolean(old)} onSubmit=${submit} />
  </div>`;
}

/**
 * useDraft keeps what may be kept of a form while it is typed. Of the server only what parley has masked is kept: nobody
 * else knows what in it is secret. It returns what forgets the draft for good.
 */
function useDraft(form, setKept) {
  const known = useRef({ typed: "", masked: "" });
  const over = useRef(false);
  useEffect(() => {
    let current = true;
    const keep = () => current && !over.current && setKept(withoutSecrets(form, known.current.masked));
    const { server: typed } = form;
    if (known.current.typed === typed) keep();
    else {
      const learn = ({ server }) => {
        known.current = { typed, masked: server };
        keep();
      };
      api.post("/masked", { server: typed }).then(learn, () => {}); // without an answer, what was kept before stays
    }
    return () => {
      current = false;
    };
  }, [form]);
  return () => {
    over.current = true;
    setKept(undefined);
  };
}

function Recent({ recent, onConnected, onFill, onForget }) {
  const [error, setError] = useState(undefined);
  const [asking, ask] = useState(undefined);
  const connect = async ({ text, form }) => {
    setError(undefined);
    if (lacksSecrets(form)) {
      onFill({ text, form });
      return;
    }
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
      ${recent.map(({ text, form }) => html`<li key=${text}><code class="grow">${label(text, 300)}</code><${Button} aria-label=${`Connect to ${label(text, 100)}`} onClick=${() => connect({ text, form })}>${lacksSecrets(form) || wanted(form.inputs).length > 0 ? "Connect…" : "Connect"}<//></li>`)}
    </ul>
    <${ErrorBox} error=${error} />
    ${asking && html`<${Inputs} entry=${asking.entry} inputs=${asking.inputs} onConnected=${onConnected} onClose=${() => ask(undefined)} />`}
  </section>`;
}

