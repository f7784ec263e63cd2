// How to judge, and what that would send.

import { api, useGet } from "../../lib/api.js";
import { html, useState } from "../../lib/preact.js";
import { ofRun, useKept } from "../../lib/state.js";
import { Button, Check, ErrorBox, Field, Select, TextArea, TextInput } from "../../lib/ui.js";

/** The kinds of judgements. */
export const kinds = {
  server: {
    title: "Protocol",
    sends: "Parley opens connections of its own and sends what the specification allows, and much that it forbids: wrong versions, broken messages, calls out of order. Lists are read, and tools are called that say they only read; others only if you allow them below.",
  },
  auth: {
    title: "Authorization",
    sends: "Parley reads the metadata of this endpoint and of its authorization server, and sends what has to be refused: requests without a token and with bad ones, wrong redirect URIs, codes that nobody issued. It registers nothing and logs nobody in; parley check auth can.",
  },
  definitions: { title: "Definitions", sends: "Parley reads the lists over this connection and calls nothing. It looks for what the specification forbids, what vendors of models refuse, what misleads a model and what nobody sees." },
};

const first = { kind: "server", revision: "", allowed: { allow: "", allowAll: false, stress: false, rate: "" } };

/** Start is the form that starts a judgement. */
export function Start({ connection, onStarted, onClose }) {
  const root = useGet("/");
  const [{ kind, revision, allowed }, setWish] = useKept(ofRun(`checks:${connection.id}:wish`), first);
  const [state, setState] = useState({});
  const submit = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    try {
      const judgement = await api.post("/judgements", how(connection, kind, revision, allowed));
      setWish(first); // what was allowed once is not allowed for the next one
      onStarted(judgement);
    } catch (error) {
      setState({ error });
    }
  };
  const offered = Object.entries(kinds).filter(([id]) => id !== "auth" || connection.target.kind === "url");
  const wish = (name) => (value) => setWish((old) => ({ ...old, [name]: value }));
  const set = (name) => (value) => setWish((old) => ({ ...old, allowed: { ...old.allowed, [name]: value } }));
  return html`<form class="card start" aria-label="Judge this server" onSubmit=${submit} novalidate>
    <${Field} label="What to judge"><${Select} value=${kind} onChange=${wish("kind")} options=${offered.map(([value, { title }]) => ({ value, label: title }))} /><//>
    <p>${kinds[kind].sends}</p>
    ${kind !== "definitions" &&
    html`<${Field} label="Revision"><${Select} value=${revision} onChange=${wish("revision")} options=${[{ value: "", label: "all that the server speaks" }, ...(root.data?.revisions ?? [])]} /><//>`}
    ${kind === "server" && html`<${More} allowed=${allowed} set=${set} error=${state.error} />`}
    <${ErrorBox} error=${state.error} />
    <p class="row"><${Button} type="submit" kind="primary" busy=${state.busy}>Judge<//> ${onClose && html`<${Button} onClick=${onClose}>Close<//>`}</p>
  </form>`;
}

function More({ allowed, set, error }) {
  return html`<details>
    <summary>What it may do</summary>
    <${Field} label="Tools that may be called" hint="One in a line, besides those that say that they only read">
      <${TextArea} value=${allowed.allow} onInput=${set("allow")} rows=${3} disabled=${allowed.allowAll} />
    <//>
    <${Check} label="Call every tool" hint="For servers whose data does not matter" checked=${allowed.allowAll} onChange=${set("allowAll")} />
    <${Check} label="Send large and many messages" hint="Not for servers that others use" checked=${allowed.stress} onChange=${set("stress")} />
    <${Field} label="Messages a second" hint="100 if nothing is said" error=${error?.field === "rate" ? error.message : undefined}><${TextInput} value=${allowed.rate} onInput=${set("rate")} inputmode="decimal" /><//>
  </details>`;
}

function how(connection, kind, revision, { allow, allowAll, stress, rate }) {
  const wish = { connection: connection.id, kind };
  if (kind === "definitions") return wish;
  if (revision) wish.revisions = [revision];
  if (kind === "auth") return wish;
  const names = allow.split("\n").map((name) => name.trim()).filter(Boolean);
  return { ...wish, allow: names, allowAll, stress, rate: rate.trim() === "" ? 0 : Number(rate) };
}
