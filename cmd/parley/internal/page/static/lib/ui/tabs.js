import { html, useId } from "../preact.js";

/**
 * Tabs are views of one thing, of which one is shown: the children.
 * @param {{tabs: {id: string, title: any}[], current: string, onChange: (id: string) => void, label: string, children: any}} props
 */
export function Tabs({ tabs, current, onChange, label, children }) {
  const own = useId();
  const tabID = (id) => `${own}-${id}`;
  const at = tabs.findIndex((tab) => tab.id === current);
  const keys = (event) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    onChange(next.id);
    document.getElementById(tabID(next.id))?.focus();
  };
  return html`<div class="tabs">
    <div role="tablist" aria-label=${label} onKeyDown=${keys}>
      ${tabs.map(
        (tab) =>
          html`<button key=${tab.id} type="button" role="tab" id=${tabID(tab.id)} aria-selected=${tab.id === current ? "true" : "false"} aria-controls=${`${own}-panel`} tabindex=${tab.id === current ? 0 : -1} onClick=${() => onChange(tab.id)}>${tab.title}</button>`,
      )}
    </div>
    <div role="tabpanel" id=${`${own}-panel`} aria-labelledby=${tabID(current)} tabindex="0">${children}</div>
  </div>`;
}
