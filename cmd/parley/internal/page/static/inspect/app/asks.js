// What an app asks of the person who looks at it.

import { Marked, label } from "../../lib/content.js";
import { html, useEffect } from "../../lib/preact.js";
import { Button, Json, announce } from "../../lib/ui.js";

/** Asks is one question of an app's, with its answers. */
export function Asks({ ask }) {
  useEffect(() => announce("The app asks something", { urgent: true }), []);
  return html`<div class="notice warning app-ask" role="group" aria-label="The app asks">${ask.kind === "call" ? html`<${Call} ...${ask} />` : html`<${Link} ...${ask} />`}</div>`;
}

function Call({ name, args, allow, refuse, always }) {
  const forGood = () => {
    always();
    allow();
  };
  return html`<p>The app asks to call the tool <strong>${label(name)}</strong> with</p>
    <${Json} value=${args} />
    <div class="row">
      <${Button} kind="primary" onClick=${() => allow()}>Allow once<//><${Button} onClick=${forGood}>Allow this tool while the app is open<//><${Button} kind="danger" onClick=${() => refuse()}>Refuse<//>
    </div>`;
}

// The link is opened by the click itself, so that nothing opens that nobody clicked on.
function Link({ url, host, allow, refuse }) {
  return html`<p>The app asks to open a page of <strong>${label(host)}</strong></p>
    <p><code><${Marked} text=${url} /></code></p>
    <div class="row">
      <a class="button primary" href=${url} target="_blank" rel="noopener noreferrer nofollow" referrerpolicy="no-referrer" onClick=${() => allow()}>Open ${label(host, 80)}</a>
      <${Button} kind="danger" onClick=${() => refuse()}>Refuse<//>
    </div>`;
}
