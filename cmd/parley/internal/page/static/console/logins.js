import { api, useGet } from "../lib/api.js";
import { html, useState } from "../lib/preact.js";
import { label } from "../lib/text.js";
import { Badge, Button, Empty, ErrorBox, Notice, Spinner, Sure, Time } from "../lib/ui.js";
import { Lacks, Table, useDeed } from "./parts.js";

/** View shows how the gateway logs in at its servers, and for whom. */
export function View({ can }) {
  const { data, error, reload } = useGet("/logins", {}, ["overview"]);
  const [asks, ask] = useState(null);
  const deed = useDeed(reload);
  if (!data) return error ? html`<h1>Logins</h1><${ErrorBox} error=${error} />` : html`<${Spinner} />`;
  return html`<h1>Logins</h1>
    <p>Tokens are never shown.</p>
    <h2>Backends</h2>
    ${data.backends.length === 0 ? html`<${Empty} title="The gateway logs in at none of its servers." />` : html`<${Table} label="Backends" head=${["Backend", "The gateway logs in", "Its token", "Scopes"]} rows=${data.backends.map((b) => [b.backend, label(b.how, 300), b.token && html`<${Token} of=${b.token} />`, (b.token?.scopes ?? []).join(" ")])} />`}
    <h2>Users</h2>
    ${data.problem && html`<${Notice} kind="error" title="The logins of users cannot be read.">${label(data.problem, 1000)}<//>`}
    ${data.users.length === 0 && !data.problem && html`<${Empty} title="No user has logged in at a server." />`}
    ${data.users.length > 0 &&
    html`<${Table} label="Users" head=${["Backend", "User", "Login", "Since", "Issuer", "Scopes", "Forget"]} rows=${data.users.map((l) => [
      html`${l.backend}<br /><small class="faint">${label(l.url, 200)}</small>`,
      label(l.principal || "the user of the gateway", 200),
      html`<${Token} of=${l} />`,
      html`<${Time} at=${l.since} />`,
      label(l.issuer ?? "", 200),
      label((l.scopes ?? []).join(" "), 200),
      can("operator") && html`<${Button} kind="danger" aria-label=${`Revoke and forget the login of ${label(l.principal || "the user", 100)} at ${l.backend}`} onClick=${() => ask(l)}>Revoke and forget<//>`,
    ])} />`}
    ${data.unreadable > 0 && html`<${Notice} kind="warning">${data.unreadable} more cannot be read: they were changed, or their key is not among those of the configuration.<//>`}
    ${!can("operator") && html`<${Lacks} role="operator" what="revoke and forget logins" />`}
    ${deed.done?.detail && html`<p role="status">${label(deed.done.detail, 500)}</p>`}
    ${asks && html`<${Sure} title="Revoke and forget this login?" verb="Revoke and forget" busy=${Boolean(deed.busy)} error=${deed.error}
      onDo=${() => deed.run("Forget the login", () => api.post("/logins/forget", { backend: asks.backend, url: asks.url, principal: asks.principal }))} onClose=${() => ask(null)}>
      <p>${label(asks.principal || "The user", 200)} is asked to log in at ${asks.backend} again when they next need it.</p>
    <//>`}`;
}

function Token({ of: t }) {
  if (!t.loggedIn) return html`<${Badge} kind="warning">ended<//>`;
  const until = t.expires ? html`, ${t.renewable ? "renewed at" : "until"} <${Time} at=${t.expires} />` : "";
  return html`<${Badge} kind="good">logged in<//>${until}`;
}
