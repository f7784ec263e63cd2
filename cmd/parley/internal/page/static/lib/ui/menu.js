import { html, useEffect, useId, useRef, useState } from "../preact.js";

/**
 * Menu is a button that opens a list of actions.
 * @param {{label: any, items: {label: any, onPick: () => void, disabled?: boolean, hint?: any}[], kind?: string}} props
 */
export function Menu({ label, items, kind = "plain" }) {
  const [open, setOpen] = useState(false);
  const root = useRef(null);
  const id = useId();
  const entries = () => [...(root.current?.querySelectorAll("[role=menuitem]:not([aria-disabled=true])") ?? [])];
  useEffect(() => {
    if (!open) return undefined;
    entries()[0]?.focus();
    const outside = (event) => root.current?.contains(event.target) || setOpen(false);
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    root.current.querySelector("button").focus();
  };
  const keys = (event) => {
    if (!open) return;
    const list = entries();
    const at = list.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: list.length - 1 }[event.key];
    if (to !== undefined) list[(to + list.length) % list.length]?.focus();
    else if (event.key === "Escape") close();
    else if (event.key === "Tab") setOpen(false);
    else return;
    if (event.key !== "Tab") event.preventDefault();
    event.stopPropagation();
  };
  const pick = (item) => {
    if (item.disabled) return;
    close();
    item.onPick();
  };
  return html`<div class="menu" ref=${root} onKeyDown=${keys}>
    <button type="button" class=${`button ${kind}`} aria-haspopup="menu" aria-expanded=${open ? "true" : "false"} aria-controls=${open ? id : undefined} onClick=${() => setOpen(!open)}>${label} <span aria-hidden="true">▾</span></button>
    ${open &&
    html`<div role="menu" id=${id}>
      ${items.map(
        (item, i) =>
          html`<button key=${i} type="button" role="menuitem" tabindex="-1" aria-disabled=${item.disabled ? "true" : undefined} onClick=${() => pick(item)}>${item.label}${item.hint && html`<small>${item.hint}</small>`}</button>`,
      )}
    </div>`}
  </div>`;
}
