// One resource: what is said of it, its content, and its updates.

import { api } from "../lib/api.js";
import { About, Contents, Marked, SafeLink, label, size } from "../lib/content.js";
import { html, useState } from "../lib/preact.js";
import { Badge, Button, Copy, Empty, ErrorBox, Facts, Notice, Time } from "../lib/ui.js";
import { CallState, useCall } from "./onecall.js";

/**
 * Resource shows a resource. about is its entry in the list, if it has one, and watch its
 * subscription.
 */
export function Resource({ connection, uri, about, watch, onWatch }) {
  const made = useCall(connection, `read:${uri}`);
  const read = () => made.start("resources/read", { uri });
  return html`<${Heading} uri=${uri} about=${about} />
    <p class="actions">
      <${Button} kind="primary" busy=${made.running} onClick=${read}>${made.call ? "Read again" : "Read"}<//>
      <${Watch} connection=${connection} uri=${uri} watch=${watch} onWatch=${onWatch} /> <${Copy} text=${uri} label="Copy URI" />
    </p>
    <${Updates} watch=${watch} onRead=${read} /> <${CallState} connection=${connection} made=${made} /> <${ReadResult} result=${made.call?.result} />`;
}

function Heading({ uri, about }) {
  return html`<h2>${label(about?.title ?? about?.name ?? uri, 300)}</h2>
    ${about?.description !== undefined && html`<p class="prose"><${Marked} text=${about.description} lines /></p>`}
    <${Facts}
      facts=${[
        ["URI", html`<code class="wrap">${label(uri, 2000)}</code>`],
        ["Link", /^https?:/i.test(uri) && html`<${SafeLink} href=${uri}>Open it on the web<//>`],
        ["Name", about?.title !== undefined && about.name !== undefined && label(about.name, 300)],
        ["Type", about?.mimeType !== undefined && label(about.mimeType, 100)],
        ["Size", about?.size !== undefined && size(about.size)],
        ["Listed", about ? undefined : "no: the server may have it all the same"],
      ]}
    />
    <${About} of=${about} />`;
}

/** ReadResult shows what resources/read returned. */
export function ReadResult({ result }) {
  if (result === undefined || result === null) return null;
  const contents = Array.isArray(result.contents) ? result.contents : [];
  return html`<section aria-label="Content">
    ${contents.length === 0 && html`<${Empty} title="The server sent no content" />`} ${contents.slice(0, 200).map((part, i) => html`<${Contents} key=${i} contents=${part} />`)}
    ${contents.length > 200 && html`<${Notice} kind="warning">${contents.length - 200} more contents are not shown.<//>`}
  </section>`;
}

function Watch({ connection, uri, watch, onWatch }) {
  const [error, setError] = useState(undefined);
  const [busy, setBusy] = useState(false);
  const path = `/connections/${connection.id}/subscriptions`;
  const act = async (change) => {
    setBusy(true);
    setError(undefined);
    try {
      await change();
    } catch (failed) {
      setError(failed);
    }
    setBusy(false);
    onWatch();
  };
  const begin = () => act(() => api.post(path, { uri }));
  const end = () => act(() => api.del(`${path}/${encodeURIComponent(watch.id)}`));
  const open = watch?.state === "open";
  return html`${!open && html`<${Button} busy=${busy} onClick=${begin}>${watch ? "Subscribe again" : "Subscribe"}<//>`}
    ${watch && html`<${Button} busy=${busy} onClick=${end}>Unsubscribe<//>`} <${ErrorBox} error=${error} />`;
}

/** Updates shows what came of a subscription. */
function Updates({ watch, onRead }) {
  if (!watch) return null;
  const title = { open: "Watched", ended: "The subscription has ended", waiting: "The subscription is being opened again" }[watch.state] ?? watch.state;
  const newest = [...watch.updates].reverse().slice(0, 10);
  return html`<section class="updates" aria-label="Updates">
    <h3>${title} <${Badge} kind=${watch.state === "open" ? "good" : "warning"}>${`${watch.count} ${watch.count === 1 ? "update" : "updates"}`}<//></h3>
    ${watch.error && html`<${ErrorBox} error=${watch.error} />`}
    <div aria-live="polite">
      ${newest.length === 0 && html`<p class="faint">Since <${Time} at=${watch.since} /> the server has not said that it changed.</p>`}
      ${newest.length > 0 &&
      html`<ul class="plain">
          ${newest.map((update, i) => html`<li key=${watch.count - i}><${Time} at=${update.at} /> ${update.gap ? "the subscription was interrupted: anything may have changed" : "updated"}${!update.gap && update.uri !== watch.uri && html` <code>${label(update.uri, 300)}</code>`}</li>`)}
        </ul>
        <${Button} onClick=${onRead}>Read what it is now<//>`}
    </div>
  </section>`;
}
