import { html } from "../lib/preact.js";
import { Button } from "../lib/ui.js";

/** Refuse are the ways of not answering. */
export function Refuse({ answer, noun = "question" }) {
  return html`<${Button} busy=${answer.busy} onClick=${() => answer.send({ action: "decline" })}>Decline<//>
    <${Button} kind="plain" busy=${answer.busy} title=${`Says that you made no choice about this ${noun}`} onClick=${() => answer.send({ action: "cancel" })}>Cancel<//>`;
}
