// A stream that was asked for again, and what came on it: again, or for the first time.

import { useGet } from "../../lib/api.js";
import { label } from "../../lib/content.js";
import { html, useRef } from "../../lib/preact.js";
import { href } from "../../lib/route.js";
import { Badge, ErrorBox } from "../../lib/ui.js";
import { colours } from "./list.js";

const mostShown = 50;

/**
 * Stream shows a stream that was asked for again.
 * @param {{connection: object, stream: object, onLeave: () => void}} props onLeave is called when a link leads elsewhere
 */
export function Stream({ connection, stream, onLeave }) {
  const { exchange, lastEvent, status, aside } = stream;
  return html`<div class="card">
    <p>
      <a href=${href([connection.id, "traffic"], { exchange })} onClick=${onLeave}>Exchange ${exchange}</a>: ${aside ? "the page" : "the client"} asked for the stream again${lastEvent ? html` after event <code>${label(lastEvent, 100)}</code>` : ""}${status
        ? `: HTTP ${status}`
        : ""}.
    </p>
    <p role="status">${summary(stream)}</p>
    <${Brought} connection=${connection} stream=${stream} onLeave=${onLeave} />
  </div>`;
}

const messages = (count) => (count === 1 ? "one message" : `${count} messages`);

/** summary says in a sentence what a stream has brought. */
export function summary({ status, total, again, aside, open, lastEvent }) {
  if (status >= 300) return `The server refused with HTTP ${status}: it replays nothing.`;
  const more = open && aside ? " The stream is still open." : "";
  if (total === 0) return `${lastEvent ? "The server replayed nothing" : "Nothing has come on it"}${aside && !open ? ": nothing came after this event." : "."}${more}`;
  const parts = [again > 0 && `${messages(again)} came again`, total > again && `${messages(total - again)} came for the first time`].filter(Boolean).join(", and ");
  return `${parts[0].toUpperCase()}${parts.slice(1)}.${more}`;
}

/** Brought lists what came on a stream, with the IDs of its events. */
function Brought({ connection, stream, onLeave }) {
  const numbers = stream.replayed.slice(0, mostShown);
  const { data, error } = useGet(numbers.length > 0 ? `/connections/${connection.id}/frames` : null, { n: numbers.join(",") });
  const shown = useRef([]);
  if (data) shown.current = data.frames; // what was read last stays while more is read
  if (numbers.length === 0) return null;
  return html`${stream.total > numbers.length && html`<p>These are the first ${numbers.length} of ${stream.total}.</p>`}
    <${ErrorBox} error=${error} />
    <${Frames} connection=${connection} frames=${shown.current} caption="What came on the stream" onLeave=${onLeave} />`;
}

/** Frames is a table of frames that lead to themselves. */
export function Frames({ connection, frames, caption, onLeave }) {
  return html`<table class="brought">
    <caption class="unseen">${caption}</caption>
    <thead><tr><th scope="col">Frame</th><th scope="col">Event</th><th scope="col">What</th></tr></thead>
    <tbody>
      ${frames.map(
        (frame) => html`<tr key=${frame.n}>
          <td><a href=${href([connection.id, "traffic"], { n: frame.n })} onClick=${onLeave}>${frame.n}</a></td>
          <td>${frame.event ? html`<code>${label(frame.event, 100)}</code>` : html`<span class="faint">none</span>`}</td>
          <td><${Badge} kind=${colours[frame.kind]}>${frame.kind}<//> ${frame.event && html`<${Again} frame=${frame} /> `}${label(frame.method ?? "", 80)} <span class="faint">${label(frame.subject ?? "", 80)}</span></td>
        </tr>`,
      )}
    </tbody>
  </table>`;
}

const Again = ({ frame }) => (frame.replayed ? html`<${Badge} kind="warning" title="An event with this ID had come before">replayed<//>` : html`<${Badge} kind="good" title="No event with this ID had come before">new<//>`);
