// A line of text that the server completes as somebody types.

import { label } from "../lib/content.js";
import { numberOf } from "../lib/json.js";
import { html, useEffect, useId, useRef, useState } from "../lib/preact.js";
import { TextInput, announce } from "../lib/ui.js";

const pause = 250; // milliseconds without a key before the server is asked
const shown = 100; // values in the list: as many as a server may send at once

/**
 * CompleteInput is a text input with a list of what the server proposes. Without ask it is a
 * plain one.
 * @param {{
 *   value: string, onInput: (value: string) => void,
 *   ask?: (value: string, signal: AbortSignal) => Promise<{values: string[], total?: any, hasMore?: boolean}>,
 * }} props
 */
export function CompleteInput({ value, onInput, ask, ...rest }) {
  const [found, setFound] = useState(null); // what the server proposes; null: nothing is open
  const [at, setAt] = useState(-1);
  const [failure, setFailure] = useState("");
  const waiting = useRef({ timer: 0, ended: null });
  const id = useId();

  const stop = () => {
    clearTimeout(waiting.current.timer);
    waiting.current.ended?.abort();
  };
  useEffect(() => stop, []);
  const close = () => {
    stop();
    setFound(null);
    setAt(-1);
  };
  const soon = (text, wait = pause) => {
    stop();
    if (!ask) return;
    waiting.current.timer = setTimeout(async () => {
      const ended = (waiting.current.ended = new AbortController());
      try {
        const answer = await ask(text, ended.signal);
        if (ended.signal.aborted) return;
        const values = (answer.values ?? []).slice(0, shown);
        setFound({ ...answer, values });
        setAt(-1);
        setFailure("");
        announce(values.length === 1 ? "1 value" : `${values.length} values`);
      } catch (error) {
        if (ended.signal.aborted) return;
        setFound(null);
        setFailure(error.message);
      }
    }, wait);
  };
  const type = (text) => {
    onInput(text);
    soon(text);
  };
  const pick = (text) => {
    onInput(text);
    close();
  };
  const keys = (event) => {
    const count = found?.values.length ?? 0;
    if (event.key === "ArrowDown" && count === 0 && ask) soon(value, 0);
    else if (event.key === "ArrowDown" && count > 0) setAt((at + 1) % count);
    else if (event.key === "ArrowUp" && count > 0) setAt((at + count - (at < 0 ? 0 : 1)) % count);
    else if (event.key === "Enter" && at >= 0) pick(found.values[at]);
    else if (event.key === "Escape" && found) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const open = found !== null && found.values.length > 0;
  const combo = ask && { role: "combobox", "aria-autocomplete": "list", "aria-expanded": String(open), "aria-controls": open ? id : undefined, "aria-activedescendant": open && at >= 0 ? `${id}-${at}` : undefined };
  return html`<div class="complete" onKeyDown=${keys}>
    <${TextInput} ...${rest} ...${combo ?? {}} value=${value} onInput=${type} onBlur=${close} />
    ${open &&
    html`<ul id=${id} role="listbox" aria-label="Values that the server proposes">
      ${found.values.map((text, i) => html`<li key=${i} id=${`${id}-${i}`} role="option" aria-selected=${String(i === at)} class=${i === at ? "active" : ""} onMouseDown=${(event) => event.preventDefault() ?? pick(text)}>${label(text, 200)}</li>`)}
      ${more(found) && html`<li class="faint" role="presentation">${more(found)}</li>`}
    </ul>`}
    ${failure && html`<div class="hint">No proposals: ${label(failure, 300)}</div>`}
  </div>`;
}

function more({ values, total, hasMore }) {
  if (total !== undefined && numberOf(total) > values.length) return `${values.length} of ${label(total, 20)}: type on to narrow them`;
  return hasMore ? "The server has more: type on to narrow them" : "";
}
