import { Fragment, html, useEffect, useRef } from "../lib/preact.js";
import { go } from "../lib/route.js";
import { Dialog } from "../lib/ui.js";
import { views } from "./views.js";

const typing = (target) => target.closest("input, textarea, select, [contenteditable]") !== null;

/** useKeys has the keys of the page work: ? for help, / to search, g and a letter to go somewhere. */
export function useKeys(onHelp) {
  const state = useRef({ g: 0 });
  state.current.onHelp = onHelp;
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
  const view = Date.now() - state.g < 1500 && views.find((v) => v.key === key);
  state.g = 0;
  if (view) go([view.id]);
  else if (key === "?") state.onHelp();
  else if (key === "g") state.g = Date.now();
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
  ["a", "Approvals: approve what is picked, once"],
  ["d", "Approvals: refuse what is picked"],
  ["Esc", "close a window; empty the search"],
];

/** Keys shows the keys. */
export function Keys({ onClose }) {
  const all = [...common, ...views.map(({ key, title }) => [`g ${key}`, title])];
  return html`<${Dialog} title="Keys" onClose=${onClose}>
    <dl class="keys">${all.map(([key, what]) => html`<${Fragment} key=${key}><dt>${key.split(" ").map((k) => html`<kbd>${k}</kbd> `)}</dt><dd>${what}</dd><//>`)}</dl>
  <//>`;
}
