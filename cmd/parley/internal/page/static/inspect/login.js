// The login to a server: what it is, what can be done with it, and each step of how it came about.

import { api, useGet } from "../lib/api.js";
import { linkOf } from "../lib/links.js";
import { html, useEffect, useState } from "../lib/preact.js";
import { label } from "../lib/text.js";
import { Badge, Button, ErrorBox, Facts, Field, Json, Notice, TextInput, Time } from "../lib/ui.js";
import { Steps } from "./login-steps.js";

/** Login shows the login of a connection. */
export function Login({ connection }) {
  const path = `/connections/${connection.id}/login`;
  const mine = (event) => event.connection === connection.id;
  const { data, error, reload } = useGet(path, {}, { login: mine, connection: mine });
  const [failure, setFailure] = useState(undefined);
  const act = async (what, body) => {
    setFailure(undefined);
    try {
      await api.post(`${path}${what}`, body);
    } catch (failed) {
      setFailure(failed);
    }
    reload();
  };
  // What went wrong with another login says nothing about this one.
  const url = data?.waiting?.url;
  useEffect(() => url && setFailure(undefined), [url]);
  if (!data) return html`<${ErrorBox} error=${error} />`;
  const pasted = failure?.field === "address" ? failure : undefined;
  if (!data.possible) return html`<section class="card" aria-label="Login"><h2>Login</h2><p class="faint">${label(data.why, 500)}</p></section>`;
  return html`<section class="card" aria-label="Login">
    <div class="row">
      <h2 class="grow">Login</h2>
      ${data.status.loggedIn ? html`<${Badge} kind="good">logged in<//>` : html`<${Badge}>not logged in<//>`}
    </div>
    ${data.waiting && html`<${Waiting} waiting=${data.waiting} error=${pasted} act=${act} />`}
    ${!data.waiting && data.missing.length > 0 && html`<${Notice} kind="warning" title="The server demands more rights.">Missing: <code>${label(data.missing.join(" "), 500)}</code><//>`}
    <${ErrorBox} error=${data.waiting ? !pasted && failure : (failure ?? data.error)} /> <${Status} data=${data} /> <${Actions} data=${data} act=${act} />
    <${Steps} steps=${data.steps} />
  </section>`;
}

/** Waiting brings the user to the authorization server, in a tab of its own. */
function Waiting({ waiting, error, act }) {
  const [address, setAddress] = useState("");
  const { url, host, why } = linkOf(waiting.url);
  const paste = (event) => {
    event.preventDefault();
    act("/paste", { address });
  };
  return html`<${Notice} kind="warning" title="The server wants you to log in." urgent=${true}>
    <div class="waiting stack">
      <p>At <strong>${label(host ?? waiting.issuer, 300)}</strong>, the authorization server <code>${label(waiting.issuer, 500)}</code>. You see there what parley would be allowed to do.</p>
      ${why && html`<p>Its address cannot be opened: ${why}.</p>`}
      <div class="row">
        ${url && html`<a class="button primary" href=${url} target="_blank" rel="noopener noreferrer">Log in at ${label(host, 100)}</a>`}
        <${Button} onClick=${() => act("/cancel")}>Do not log in<//>
      </div>
      <details>
        <summary>The browser is on another machine</summary>
        <p>Open this there: <code>${label(waiting.url, 8000)}</code></p>
        <form onSubmit=${paste}>
          <${Field} label="The address that the browser ends at" hint="It begins with ${waiting.redirect}; the page itself cannot be shown there" error=${error && `${error.message}: ${error.hint}`}><${TextInput} class="mono" value=${address} onInput=${setAddress} /><//>
          <${Button} type="submit" disabled=${!address.trim()}>Use this address<//>
        </form>
      </details>
    </div>
  <//>`;
}

function Status({ data }) {
  const { status, client } = data;
  return html`<${Facts}
      facts=${[
        ["By", status.issuer && html`<code>${label(status.issuer, 500)}</code>`],
        ["For", status.resource && html`<code>${label(status.resource, 500)}</code>`],
        ["As", status.clientId && html`<code>${label(status.clientId, 500)}</code>`],
        ["Scopes", status.loggedIn && (label(status.scopes.join(" "), 1000) || "none that the server names")],
        ["Asked for", status.requested.length > 0 && status.requested.join(" ") !== status.scopes.join(" ") && label(status.requested.join(" "), 1000)],
        ["Until", status.loggedIn && html`${status.expires ? html`<${Time} at=${status.expires} />` : "the server does not say"}${status.renewable ? ", then it is renewed" : ""}`],
        ["Bound to a key", status.dpop && "yes (DPoP)"],
        ["Client", client && html`${label(client.id || client.metadataUrl || "any", 300)}${client.secret ? ", with a secret" : ""}${client.issuer ? html`, at <code>${label(client.issuer, 300)}</code>` : ""}`],
      ]}
    />
    ${data.claims && html`<details><summary>Claims of the access token</summary><${Json} value=${data.claims} label="Claims of the access token" /></details>`}`;
}

function Actions({ data, act }) {
  const [scopes, setScopes] = useState("");
  const busy = Boolean(data.running);
  const names = (scopes || data.missing.join(" ")).split(/\s+/).filter(Boolean);
  const ask = (event) => {
    event.preventDefault();
    act("", { scopes: names });
  };
  const loggedIn = data.status.loggedIn;
  return html`<div class="row">
      ${!data.waiting && html`<${Button} kind=${loggedIn ? "" : "primary"} busy=${data.running === "login"} disabled=${busy} onClick=${() => act("", { scopes: [] })}>${loggedIn ? "Log in again" : "Log in"}<//>`}
      ${loggedIn && html`<${Button} busy=${data.running === "refresh"} disabled=${busy || !data.status.renewable} onClick=${() => act("/refresh")}>Refresh now<//> <${Button} busy=${data.running === "logout"} disabled=${busy} onClick=${() => act("/logout")}>Log out<//>`}
      ${(loggedIn || data.client) && html`<${Button} kind="danger" busy=${data.running === "forget"} disabled=${busy} onClick=${() => act("/forget")}>Forget all<//>`}
    </div>
    ${loggedIn &&
    !data.waiting &&
    html`<details>
      <summary>Ask for more scopes</summary>
      <form onSubmit=${ask}>
        <${Field} label="Scopes" hint="With blanks between them"><${TextInput} class="mono" value=${scopes} placeholder=${data.missing.join(" ")} onInput=${setScopes} /><//>
        <${Button} type="submit" disabled=${busy || names.length === 0}>Ask for them<//>
      </form>
    </details>`}`;
}
