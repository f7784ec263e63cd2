// The form: a URL or a command, and how to reach it.

import { html, useState } from "../lib/preact.js";
import { label } from "../lib/text.js";
import { Button, Check, ErrorBox, Field, IconButton, Select, TextInput } from "../lib/ui.js";
import { bodyOf, isURL, misread, serversOf } from "./connect-model.js";

const transports = [
  { value: "auto", label: "Whichever the server speaks" },
  { value: "http", label: "Streamable HTTP" },
  { value: "sse", label: "HTTP+SSE, of 2024-11-05" },
];

/** Form is the form. */
export function Form({ form, onChange, about, error, busy, changing, onSubmit }) {
  const set = (changes) => onChange({ ...form, ...changes });
  const url = isURL(form.server);
  const at = (...fields) => (fields.some((field) => error?.field === field || error?.field?.startsWith(`${field}[`)) ? error.message : undefined);
  const [refused, refuse] = useState("");
  const submit = (event) => {
    event.preventDefault();
    const why = misread(form.server);
    refuse(why);
    if (!why) onSubmit(bodyOf(form));
  };
  const type = (server) => {
    refuse("");
    set({ server });
  };
  const offered = (form.server.trim().startsWith("{") && serversOf(form.server)) || [];
  const revisions = [{ value: "auto", label: "Whichever the server speaks" }, ...(about?.revisions ?? [])];
  return html`<form class="card" aria-label="Connect" onSubmit=${submit}>
    <${Field} label="Server" hint="A URL with http:// or https://, or the command that starts the server, as in a terminal" error=${refused || at("url", "command", "entry")}>
      <${TextInput} class="mono" value=${form.server} onInput=${type} placeholder="https://example.com/mcp  or  npx -y some-server" />
    <//>
    ${offered.length > 0 && html`<p class="row"><span>Servers of this configuration:</span>${offered.map((one) => html`<${Button} key=${one.title} onClick=${() => (refuse(""), onChange(one))}>${label(one.title, 60)}<//>`)}</p>`}
    <div class="two">
      <${Field} label="Revision" error=${at("revision")}><${Select} value=${form.revision} onChange=${(revision) => set({ revision })} options=${revisions} /><//>
      ${url && html`<${Field} label="Transport" error=${at("transport")}><${Select} value=${form.transport} onChange=${(transport) => set({ transport })} options=${transports} /><//>`}
    </div>
    ${url
      ? html`<${Named} what="Header" hint="Sent with every request. Values are kept by parley, and never come back here." list=${form.headers} onChange=${(headers) => set({ headers })} error=${at("headers")} />`
      : html`<${Named} what="Variable" hint="Added to the environment of the command. Values are kept by parley, and never come back here." list=${form.env} onChange=${(env) => set({ env })} error=${at("env")} />`}
    <details open=${form.advanced || Boolean(at("login", "login.secret", "dir"))} onToggle=${(event) => event.currentTarget.open !== form.advanced && set({ advanced: event.currentTarget.open })}>
      <summary>Advanced</summary>
      <${Field} label="Name" hint="What the connection is called here"><${TextInput} value=${form.title} onInput=${(title) => set({ title })} /><//>
      ${url ? html`<${As} as=${form.login} onChange=${(login) => set({ login })} at=${at} />` : html`<${Field} label="Folder" hint="In which the command runs; empty is where parley was started" error=${at("dir")}><${TextInput} class="mono" value=${form.dir} onInput=${(dir) => set({ dir })} /><//>`}
    </details>
    <${ErrorBox} error=${error} />
    <${Button} kind="primary" type="submit" busy=${busy} disabled=${!form.server.trim()}>${changing ? "Change and reconnect" : "Connect"}<//>
  </form>`;
}

/** Named is a list of names and secret values. */
function Named({ what, hint, list, onChange, error }) {
  const set = (i, changes) => onChange(list.map((item, at) => (at === i ? { ...item, ...changes } : item)));
  return html`<fieldset>
    <legend>${what}s</legend>
    <p class="hint">${hint}</p>
    ${list.map(
      (item, i) =>
        html`<div class="named" key=${i}>
          <${TextInput} class="mono" aria-label=${`Name of ${what.toLowerCase()} ${i + 1}`} placeholder="Name" value=${item.name} onInput=${(name) => set(i, { name })} />
          <${TextInput} class="mono" type="password" aria-label=${`Value of ${what.toLowerCase()} ${i + 1}`} placeholder="Value" value=${item.value} autocomplete="new-password" onInput=${(value) => set(i, { value })} />
          <${IconButton} label=${`Remove ${what.toLowerCase()} ${i + 1}`} icon="✕" onClick=${() => onChange(list.filter((_, at) => at !== i))} />
        </div>`,
    )}
    ${error && html`<p class="error">${error}</p>`}
    <${Button} onClick=${() => onChange([...list, { name: "", value: "" }])}>Add a ${what.toLowerCase()}<//>
  </fieldset>`;
}

/** As says as which client to log in. */
function As({ as, onChange, at }) {
  const set = (changes) => onChange({ ...as, ...changes });
  const text = (name, title, hint, more = {}) => html`<${Field} label=${title} hint=${hint} error=${at(`login.${name}`)}><${TextInput} class="mono" value=${as[name]} onInput=${(value) => set({ [name]: value })} ...${more} /><//>`;
  return html`<fieldset>
    <legend>Log in as</legend>
    <p class="hint">Only for servers with a login, and only if parley is to be a certain client there. ${at("login")}</p>
    ${text("scopes", "Scopes to ask for", "With blanks between them, in addition to those that the server demands")} ${text("id", "Client ID", "Of a client that you have registered")}
    ${text("secret", "Client secret", "Kept by parley; needs the issuer, so that it goes to nobody else", { type: "password", autocomplete: "new-password" })}
    ${text("issuer", "Issuer", "The URL of the authorization server that knows the client")} ${text("metadataUrl", "Client metadata URL", "Of a Client ID Metadata Document, with https://")}
    <${Check} label="Accept only tokens that are bound to a key (DPoP)" checked=${as.dpop} onChange=${(dpop) => set({ dpop })} />
  </fieldset>`;
}
