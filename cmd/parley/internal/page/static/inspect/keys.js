import { Fragment, html, useEffect, useRef } from "../lib/preact.js";
import { go } from "../lib/route.js";
import { Dialog } from "../lib/ui.js";
import { pages, views } from "./views.js";

const typing = (target) => target.closest("input, textarea, select, [contenteditable]") !== null;

/** useKeys has the keys of the page work: ? for help, / to search, g and a letter to go somewhere. */
export function useKeys(connection, onHelp) {
  const state = useRef({});
  state.current = { ...state.current, connection, onHelp };
  useEffect(() => {
    const pressed = (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog[open]")) return;
      if (act(event.key, state.current)) event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

/** act does what a key says and reports whether it says anything. */
function act(key, state) {
  const afterG = Date.now() - (state.g ?? 0) < 1500;
  state.g = 0;
  if (afterG && visit(key, state.connection)) return true;
  if (key === "?") state.onHelp();
  else if (key === "g") state.g = Date.now();
  else if (key === "/") return search();
  else return false;
  return true;
}

function visit(key, connection) {
  const page = pages.find((p) => p.key === key);
  const view = connection && views.find((v) => v.key === key && v.shown(connection));
  if (page) go([page.id]);
  else if (view) go([connection.id, view.id]);
  return Boolean(page ?? view);
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

/** Keys shows the keys. */
export function Keys({ onClose }) {
  const all = [...common, ...[...pages, ...views].map(({ key, title }) => [`g ${key}`, title])];
  return html`<${Dialog} title="Keys" onClose=${onClose}>
    <dl class="keys">${all.map(([key, what]) => html`<${Fragment} key=${key}><dt>${key.split(" ").map((k) => html`<kbd>${k}</kbd> `)}</dt><dd>${what}</dd><//>`)}</dl>
  <//>`;
}
