// What a server says of itself, and how it is connected.

import { api, useGet } from "../lib/api.js";
import { Marked, Media, SafeLink, Text } from "../lib/content.js";
import { html, useState } from "../lib/preact.js";
import { go, href } from "../lib/route.js";
import { asText, label } from "../lib/text.js";
import { Badge, Button, ErrorBox, Facts, Json, Spinner, Sure, Time } from "../lib/ui.js";
import { capabilitiesOf } from "./capabilities.js";
import { Login } from "./login.js";
import { Ping } from "./ping.js";

const states = {
  connecting: ["Connecting", "warning"],
  login: ["Waits for you to log in", "warning"],
  up: ["Connected", "good"],
  lost: ["Connection lost", "error"],
  failed: ["Not connected", "error"],
  closed: ["Disconnected", ""],
};
const transports = { stdio: "standard input and output", "streamable-http": "Streamable HTTP", sse: "HTTP+SSE" };

/** View is the overview of a connection. */
export function View({ connection }) {
  const mine = (event) => event.id === connection.id;
  const { data, error } = useGet(`/connections/${connection.id}`, {}, { connection: mine });
  const c = data ?? connection;
  const up = c.state === "up";
  return html`<div class="overview">
    <${Head} c=${c} />
    ${c.error && html`<${ErrorBox} error=${c.error}><p><a href=${href("home", { like: c.id })}>Change how to connect</a></p><//>`} <${ErrorBox} error=${error} />
    ${c.stderr?.length > 0 && c.state !== "up" && html`<${Stderr} lines=${c.stderr} />`} ${c.target.kind === "url" && html`<${Login} connection=${c} />`}
    ${c.revision && html`<${Said} c=${c} />`} <${How} c=${c} /> ${up && html`<section class="card" aria-label="Ping"><h2>Ping</h2><${Ping} connection=${c} /></section>`}
    ${c.target.kind === "url" && html`<${Card} c=${c} />`} ${c.stderr?.length > 0 && up && html`<${Stderr} lines=${c.stderr} />`}
  </div>`;
}

function Head({ c }) {
  const [busy, setBusy] = useState("");
  const [error, setError] = useState(undefined);
  const [asks, ask] = useState(false);
  const act = async (what, f) => {
    setBusy(what);
    setError(undefined);
    try {
      await f();
    } catch (failed) {
      setError(failed);
    }
    setBusy("");
  };
  const [name, kind] = states[c.state] ?? [c.state, ""];
  const open = c.state === "up" || c.state === "connecting" || c.state === "login";
  const path = `/connections/${c.id}`;
  const close = () =>
    act("close", async () => {
      await api.del(path);
      go("home");
    });
  return html`<div class="row">
      <h1 class="grow">${label(c.server?.title || c.server?.name || c.title, 300)}</h1>
      <span role="status"><${Badge} kind=${kind}>${name}<//></span>
    </div>
    <div class="row">
      <${Button} busy=${busy === "reconnect"} onClick=${() => act("reconnect", () => api.post(`${path}/reconnect`))}>Reconnect<//>
      ${open && html`<${Button} busy=${busy === "disconnect"} onClick=${() => act("disconnect", () => api.post(`${path}/disconnect`))}>Disconnect<//>`}
      <a class="button" href=${href("home", { like: c.id })}>Change…</a>
      <${Button} kind="danger" busy=${busy === "close"} onClick=${() => (c.revision ? ask(true) : close())}>Close for good<//>
    </div>
    ${asks && html`<${Sure} title="Close it for good?" verb="Close for good" busy=${busy === "close"} error=${error} onDo=${close} onClose=${() => ask(false)}>
      <p>Its ${c.counts?.calls > 0 ? `${c.counts.calls} ${c.counts.calls === 1 ? "call" : "calls"}, also those that run, its ` : ""}recorded traffic, tasks, rules and roots are forgotten. Disconnect keeps them.</p>
    <//>`}
    <${ErrorBox} error=${error} />`;
}

/** How says how the server is reached. */
function How({ c }) {
  const named = (list) => list?.length > 0 && html`<code>${list.map(({ name }) => `${label(name, 100)}=***`).join("  ")}</code>`;
  return html`<section class="card" aria-label="Connection">
    <h2>Connection</h2>
    <${Facts}
      facts=${[
        [c.target.kind === "url" ? "URL" : "Command", html`<code>${label(c.target.text, 2000)}</code>`],
        ["Entry", c.target.entry && html`${label(c.target.entry.name, 200)} in <code>${label(c.target.entry.file, 500)}</code>`],
        ["Folder", c.target.dir && html`<code>${label(c.target.dir, 500)}</code>`],
        ["Variables", named(c.target.env)],
        ["Headers", named(c.target.headers)],
        ["Revision", c.revision && html`<strong>${c.revision}</strong> ${c.asked.revision === "auto" ? "found out" : "asked for"}`],
        ["The server speaks", c.revisions?.length > 1 && label(c.revisions.join(", "), 300)],
        ["Transport", c.transport && html`${transports[c.transport] ?? c.transport}${c.asked.transport !== "auto" ? ", asked for" : ""}`],
        ["Session", c.session && html`<code>${c.session}</code>`],
        ["Since", html`<${Time} at=${c.since} />`],
      ]}
    />
  </section>`;
}

/** Said is what the server says of itself. */
function Said({ c }) {
  const about = c.server ?? {};
  return html`<section class="card" aria-label="Server">
      <h2>Server</h2>
      <${Icons} icons=${about.icons} />
      <${Facts}
        facts=${[
          ["Name", html`<code>${label(about.name, 300)}</code>`],
          ["Version", label(about.version, 200)],
          ["Title", about.title && label(about.title, 300)],
          ["Description", about.description && html`<span class="description"><${Marked} text=${asText(about.description).slice(0, 2000)} lines /></span>`],
          ["Website", about.websiteUrl && html`<${SafeLink} href=${about.websiteUrl} />`],
        ]}
      />
      ${c.instructions && html`<h3>Instructions</h3><${Text} text=${c.instructions} />`}
    </section>
    <${Capabilities} c=${c} />`;
}

/** Icons shows those that are data; others would tell a stranger who looks. */
function Icons({ icons }) {
  if (!Array.isArray(icons) || icons.length === 0) return null;
  return html`<div class="icons">
    ${icons.slice(0, 10).map((icon, i) => {
      const [, type, data] = /^data:([^;,]+);base64,(.*)$/s.exec(icon?.src ?? "") ?? [];
      return html`<span key=${i}>${data ? html`<${Media} kind="image" mimeType=${type} data=${data} name="Icon of the server" />` : html`Icon: <${SafeLink} href=${icon?.src} />`}</span>`;
    })}
  </div>`;
}

function Capabilities({ c }) {
  const list = capabilitiesOf(c.capabilities);
  return html`<section class="card" aria-label="Capabilities">
    <h2>Capabilities</h2>
    ${list.length === 0 && html`<p class="faint">The server declares none.</p>`}
    <${Facts} facts=${list.map(({ name, about }) => [html`<code>${label(name, 200)}</code>`, about.join(" · ")])} />
    <details>
      <summary>As declared</summary>
      <${Json} value=${c.capabilities} label="Capabilities as declared" />
    </details>
  </section>`;
}

/** Card is the server card, if one is published. */
function Card({ c }) {
  const [wanted, want] = useState(false);
  const { data, error } = useGet(wanted ? `/connections/${c.id}/card` : null);
  return html`<section class="card" aria-label="Server card">
    <h2>Server card</h2>
    ${!wanted && html`<p class="hint">What the server publishes of itself before anybody connects. It is fetched without credentials.</p><${Button} onClick=${() => want(true)}>Look for a card<//>`}
    ${wanted && !data && !error && html`<${Spinner} />`} <${ErrorBox} error=${error} />
    ${data?.cards?.length === 0 && html`<p>The catalogue of the host lists no card.</p>`}
    ${data?.cards?.map(
      ({ url, card, error: why }) => html`<h3><code>${label(url || "within the catalogue", 500)}</code></h3>
        ${why ? html`<p class="error">${label(why, 1000)}</p>` : html`<${Json} value=${card} label="Server card" />`}`,
    )}
  </section>`;
}

function Stderr({ lines }) {
  return html`<section class="card" aria-label="Standard error">
    <h2>Standard error</h2>
    <pre class="stderr" tabindex="0" aria-label="What the command wrote last">${lines
      .slice(-500)
      .map((line) => label(line, 2000))
      .join("\n")}</pre>
  </section>`;
}
