// What is to be seen wherever the user is: that a server waits for an answer.

import { label } from "../lib/text.js";
import { html, useEffect, useRef } from "../lib/preact.js";
import { href } from "../lib/route.js";
import { announce } from "../lib/ui.js";

/** QuestionNotice leads to the questions that wait, unless the user is there already. */
export function QuestionNotice({ connections, here }) {
  const asking = connections.filter((connection) => connection.counts?.questions > 0 && !(here.connection === connection.id && here.view === "questions"));
  const count = asking.reduce((sum, connection) => sum + connection.counts.questions, 0);
  const before = useRef(0);
  useEffect(() => {
    if (count > before.current) announce(count === 1 ? "A server asks a question" : `${count} questions wait`, { urgent: true });
    before.current = count;
  }, [count]);
  if (count === 0) return null;
  return html`<aside class="asking" aria-label="Questions">
    <ul>
      ${asking.map((connection) => html`<li key=${connection.id}><a href=${href([connection.id, "questions"])}><strong>${label(connection.title || connection.id, 60)}</strong> ${connection.counts.questions === 1 ? "asks a question" : `asks ${connection.counts.questions} questions`}</a></li>`)}
    </ul>
  </aside>`;
}
