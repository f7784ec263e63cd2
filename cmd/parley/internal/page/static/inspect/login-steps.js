// The steps of logins, newest login first.

import { html } from "../lib/preact.js";
import { label } from "../lib/text.js";
import { Badge, Duration, Facts, Json, Time } from "../lib/ui.js";

const titles = {
  probe: "The server is asked without a token",
  challenge: "The server demands a login",
  "step-up": "The server demands more scopes",
  "resource-metadata": "Protected resource metadata",
  "server-metadata": "Authorization server metadata",
  registration: "Registration of the client",
  client: "As which client",
  authorization: "Authorization request",
  callback: "The answer of the authorization server",
  token: "Token",
  refresh: "Refresh",
  revocation: "Revocation",
  other: "Another request",
};

/** Steps lists steps by login. */
export function Steps({ steps }) {
  const runs = new Map();
  for (const step of steps) runs.set(step.run, [...(runs.get(step.run) ?? []), step]);
  if (steps.length === 0) return null;
  return html`<h3 class="run">Steps</h3>
    ${[...runs.entries()].reverse().map(
      ([run, list]) => html`<div class="run" key=${run}>
        <p class="faint"><${Time} at=${list[0].at} /></p>
        <ol class="steps" aria-label=${`Steps of login ${run}`}>${list.map((step) => html`<${Step} key=${step.number} step=${step} />`)}</ol>
      </div>`,
    )}`;
}

function Step({ step }) {
  const { request, response } = step;
  const status = response?.status;
  const expected = status < 400 || ["challenge", "step-up"].includes(step.name);
  return html`<li>
    <details>
      <summary>
        <span class="what">${titles[step.name] ?? step.name}</span>
        ${request && html`<code>${request.method} ${label(request.url, 200)}</code>`} ${step.name === "client" && html`<span>${label(step.facts?.how, 100)}</span>`}
        ${status && html`<${Badge} kind=${expected ? "" : "warning"}>${status}<//>`} ${step.error && html`<${Badge} kind="error">failed<//>`} ${step.took > 0 && html`<${Duration} ms=${step.took * 1000} />`}
      </summary>
      <${Inner} step=${step} />
    </details>
  </li>`;
}

function Inner({ step }) {
  const { request, response, facts = {} } = step;
  const { claims, ...rest } = facts;
  return html`<div class="inner">
    ${step.error && html`<p class="error">${label(step.error, 1000)}</p>`} ${request?.url.length > 200 && html`<p><code>${label(request.url, 4000)}</code></p>`}
    ${request?.body && html`<div><h4>Sent</h4><pre>${label(request.body, 8000)}</pre></div>`}
    <${Facts} facts=${Object.entries(rest).map(([name, value]) => [html`<code>${label(name, 100)}</code>`, html`<code>${label(value, 2000)}</code>`])} />
    ${response?.challenge?.length > 0 && html`<div><h4>WWW-Authenticate</h4><pre>${response.challenge.map((line) => label(line, 4000)).join("\n")}</pre></div>`}
    ${response?.document !== undefined && html`<div><h4>Received</h4><${Json} value=${response.document} label="Document" /></div>`} ${response?.text && html`<pre>${label(response.text, 2000)}</pre>`}
    ${claims && html`<div><h4>Claims of the access token</h4><${Json} value=${claims} label="Claims" /></div>`}
  </div>`;
}
