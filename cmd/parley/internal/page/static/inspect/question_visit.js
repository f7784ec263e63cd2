// A page that a server asks its user to visit. Nothing opens by itself.

import { api } from "../lib/api.js";
import { Marked, label } from "../lib/content.js";
import { html, useState } from "../lib/preact.js";
import { asText } from "../lib/text.js";
import { Button, Copy, ErrorBox, Facts, Notice } from "../lib/ui.js";
import { Refuse } from "./question_refuse.js";

/**
 * target reads a URL. What is neither http nor https is none, and neither is this page, where an address
 * could say more than where to go.
 */
function target(text) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return ["http:", "https:"].includes(url?.protocol) && url.host && url.origin !== location.origin ? url : undefined;
}

const local = ["localhost", "127.0.0.1", "[::1]"];

/** warnings says what makes a URL look like another one. */
function warnings(url, text) {
  const found = [];
  if (url.protocol === "http:" && !local.includes(url.hostname)) found.push("The connection is not encrypted.");
  if (url.username || url.password) found.push('What stands before "@" is not the host.');
  if (/xn--/i.test(url.hostname) || /[^\u0000-\u007f]/.test(text)) found.push("It has letters that may look like others.");
  return found;
}

/** Visit asks whether to go to a URL. */
export function Visit({ question, answer }) {
  const text = asText(question.params.url);
  const url = target(text);
  return html`<p class="prose message-text"><${Marked} text=${question.params.message} lines /></p>
    ${url
      ? html`<${Facts} facts=${[["Host", html`<strong class="host">${label(url.host, 500)}</strong>`], ["URL", html`<code class="wrap">${label(text, 8000)}</code>`]]} />
          ${warnings(url, text).map((warning) => html`<${Notice} key=${warning} kind="warning">${warning}<//>`)}`
      : html`<${Notice} kind="error" title="This is not the address of a web page elsewhere."><code class="wrap">${label(text, 8000)}</code><//>`}
    <p class="actions">
      ${url &&
      html`<a class="button primary" href=${url.href} target="_blank" rel="noopener noreferrer nofollow" referrerpolicy="no-referrer" onClick=${() => answer.send({ action: "accept" })}>Open ${label(url.host, 60)} in a new tab</a>
        <${Copy} text=${text} label="Copy URL" /> <${Button} busy=${answer.busy} onClick=${() => answer.send({ action: "accept" })}>I open it myself<//>`}
      <${Refuse} answer=${answer} noun="page" />
    </p>
    <p class="hint">Either way of opening it tells the server that you agreed to go there, and no more: not what happens on that page.</p>`;
}

/** Visited goes on with a call that waits for a visit to be over, for servers that do not say when. */
export function Visited({ connection, question }) {
  const [error, setError] = useState(undefined);
  const [done, setDone] = useState("");
  if (question.answer?.action !== "accept" || !question.params.elicitationId) return null;
  const end = async (over) => {
    setError(undefined);
    try {
      await api.post(`/connections/${connection.id}/questions/${question.id}/visited`, { over });
      setDone(over ? "The call goes on." : "The call was given up.");
    } catch (failed) {
      setError(failed);
    }
  };
  return html`<p class="actions">If the call still waits for this visit: <${Button} onClick=${() => end(true)}>It is over: go on<//> <${Button} onClick=${() => end(false)}>Give the call up<//> <span role="status">${done}</span></p>
    <${ErrorBox} error=${error} />`;
}
