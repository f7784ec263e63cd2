// What a screen reader is to say although the focus is elsewhere.

import { html, useEffect, useState } from "../preact.js";

let say = () => {};

/** announce has a screen reader say a text when it has time, or, if urgent, at once. */
export const announce = (text, { urgent = false } = {}) => say({ text, urgent });

/** Announcements is where announce writes to. Each page has one, in its shell. */
export function Announcements() {
  const [{ text, urgent }, set] = useState({ text: "", urgent: false });
  useEffect(() => {
    say = set;
    return () => {
      say = () => {};
    };
  }, []);
  return html`<div class="unseen">
    <div aria-live="polite">${urgent ? "" : text}</div>
    <div aria-live="assertive">${urgent ? text : ""}</div>
  </div>`;
}

/**
 * Announce is a live region with a text of its own.
 * @param {{text: string}} props
 */
export const Announce = ({ text }) => html`<div class="unseen" role="status">${text}</div>`;
