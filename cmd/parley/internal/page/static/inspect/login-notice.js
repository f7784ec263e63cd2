// What is to be seen wherever the user is: that a server wants a login.

import { label } from "../lib/text.js";
import { html, useEffect, useRef } from "../lib/preact.js";
import { href } from "../lib/route.js";
import { announce } from "../lib/ui.js";

/** LoginNotice leads to the logins that wait, unless the user is there already. */
export function LoginNotice({ connections, here }) {
  const waiting = connections.filter((connection) => connection.login && !(here.connection === connection.id && here.view === "overview"));
  const before = useRef(0);
  useEffect(() => {
    if (waiting.length > before.current) announce("A server wants you to log in", { urgent: true });
    before.current = waiting.length;
  }, [waiting.length]);
  if (waiting.length === 0) return null;
  return html`<aside class="asking" aria-label="Logins">
    <ul>
      ${waiting.map((connection) => html`<li key=${connection.id}><a href=${href([connection.id])}><strong>${label(connection.title || connection.id, 60)}</strong> wants you to log in</a></li>`)}
    </ul>
  </aside>`;
}
