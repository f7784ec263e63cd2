// The row in the list of frames that says where the client has connected anew.

import { label } from "../../lib/content.js";
import { html } from "../../lib/preact.js";
import { Time } from "../../lib/ui.js";

/** Mark is that row. */
export function Mark({ mark: { line, before } }) {
  const { session, at } = line;
  const about = [session && `session ${begin(session)}`, before.session && `${begin(before.session)} is gone`].filter(Boolean).join(", ");
  return html`<span class="frame-row anew"><span class="n"></span> <strong>Connected anew</strong> at <${Time} at=${at} /> <span class="what">${about}</span></span>`;
}

/** begin returns what is shown of a session's ID, without the remark that there is more of it. */
const begin = (session) => label(session.replace(/ \(.*\)$/, ""), 40);
