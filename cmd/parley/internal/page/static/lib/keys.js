// The keys of a page: ? for help, / to search, g and a letter to go somewhere.

import { Fragment, html, useEffect, useRef } from "./preact.js";
import { Dialog } from "./ui.js";

/** isOurs says whether a key is for the page: not for a field, a window above it or the browser. */
export const isOurs = (event) =>
  !(event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, [contenteditable]") || document.querySelector("dialog[open]"));

/**
 * useKeys has the keys of a page work.
 * @param {(letter: string) => void} visit goes where a letter after g leads, if it leads anywhere
 * @param {() => void} onHelp
 */
export function useKeys(visit, onHelp) {
  const state = useRef({ afterG: false });
  Object.assign(state.current, { visit, onHelp });
  useEffect(() => {
    const pressed = (event) => {
      if (event.key === "Shift" || event.key === "CapsLock") return; // a part of the key that follows
      if (!isOurs(event)) state.current.afterG = false;
      else if (act(event.shiftKey ? event.key : event.key.toLowerCase(), state.current)) event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

/**
 * act does what a key says and reports whether it says anything. A letter after g belongs to it, however late it comes and
 * even if it leads nowhere: it must do nothing else.
 */
export function act(key, state) {
  const { afterG } = state;
  state.afterG = key === "g";
  if (state.afterG) return true;
  if (afterG && /^\p{L}$/u.test(key)) state.visit(key);
  else if (key === "?") state.onHelp();
  else if (key === "/") return search();
  else return false;
  return true;
}

function search() {
  const box = document.querySelector("#main [data-search]");
  box?.focus();
  box?.select();
  return Boolean(box);
}

const common = [
  ["?", "these keys"],
  ["/", "search in this view"],
  ["↑ ↓ Home End Page Up Page Down", "move in a list"],
  ["Enter", "pick a row"],
  ["Esc", "close a window or a menu; empty the search"],
];

/**
 * Keys shows the keys.
 * @param {{views: {key: string, title: string}[], more?: [string, string][]}} props more: keys of single views
 */
export function Keys({ views, more = [], onClose }) {
  const all = [...common, ...more, ...views.map(({ key, title }) => [`g ${key}`, title])];
  return html`<${Dialog} title="Keys" onClose=${onClose}>
    <dl class="keys">${all.map(([key, what]) => html`<${Fragment} key=${key}><dt>${key.split(" ").map((k) => html`<kbd>${k}</kbd> `)}</dt><dd>${what}</dd><//>`)}</dl>
  <//>`;
}
