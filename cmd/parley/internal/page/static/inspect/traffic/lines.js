// The connections that a client made, one after the other: where each begins among the frames, and
// what was sent again on it.

import { useGet } from "../../lib/api.js";
import { label } from "../../lib/content.js";
import { html } from "../../lib/preact.js";
import { href } from "../../lib/route.js";
import { Empty, ErrorBox, Facts, Spinner, Time } from "../../lib/ui.js";
import { Frames } from "./stream.js";

/** useLines reads the connections, and again when the connection has changed. */
export function useLines(connection) {
  return useGet(`/connections/${connection.id}/lines`, {}, { connection: (event) => event.id === connection.id }).data?.lines ?? [];
}

/**
 * marksOf returns where the lines but the first begin. A mark stands before its line's first frame: its number
 * is half a frame less.
 * @param {{connection: number, first: number}[]} lines
 * @returns {Map<number, {line: object, before: object}>}
 */
export const marksOf = (lines) => new Map(lines.slice(1).map((line, i) => [line.first - 0.5, { line, before: lines[i] }]));

/** Anew shows how a connection began: which session it has, what became of the one before, and what was sent again. */
export function Anew({ connection, lines, number }) {
  const at = lines.findIndex((line) => String(line.connection) === String(number));
  const numbers = lines[at]?.again ?? [];
  const { data, error } = useGet(numbers.length > 0 ? `/connections/${connection.id}/frames` : null, { n: numbers.slice(0, 200).join(",") });
  if (at < 1) return html`<${Empty} title="Nothing is recorded of the connection before this one" />`;
  const [before, line] = [lines[at - 1], lines[at]];
  return html`<h2>Connected anew</h2>
    <${Facts}
      facts=${[
        ["At", html`<${Time} at=${line.at} />`],
        ["Session", line.session ? html`<code>${label(line.session, 200)}</code>` : "none"],
        ["Before", html`<${Gone} connection=${connection} line=${before} />`],
        ["First frame", html`<a href=${href([connection.id, "traffic"], { n: line.first })}>${line.first}</a>`],
      ]}
    />
    <h3>Sent again</h3>
    <${ErrorBox} error=${error} /> ${numbers.length === 0 && html`<p class="faint">Nothing that was sent on the connection before.</p>`} ${numbers.length > 0 && !data && !error && html`<${Spinner} />`}
    ${data && html`<${Frames} connection=${connection} frames=${data.frames} caption="What was sent again" />`}`;
}

/** Gone says what became of the session of a line that another one has replaced. */
function Gone({ connection, line: { session, left, status } }) {
  if (!session) return "had no session, and is closed";
  const end = left ? html`, ended by the client (<a href=${href([connection.id, "traffic"], { exchange: left })}>DELETE</a>${status ? `, HTTP ${status}` : ""})` : ", left without a word";
  return html`session <code>${label(session, 200)}</code>${end}`;
}
