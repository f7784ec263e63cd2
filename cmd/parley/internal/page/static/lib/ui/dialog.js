import { html, useId, useLayoutEffect, useRef } from "../preact.js";
import { Button, IconButton } from "./controls.js";
import { ErrorBox } from "./show.js";

/**
 * Dialog is a window above the page, which holds the focus until it is closed.
 * @param {{title: any, onClose: () => void, children: any, actions?: any, wide?: boolean}} props
 */
export function Dialog({ title, onClose, children, actions, wide = false }) {
  const ref = useRef(null);
  const id = useId();
  const over = useRef(false);
  // Before anything is painted: until then, keys would go to what is below.
  useLayoutEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    if (!dialog.open) dialog.showModal();
    return () => {
      over.current = true;
      dialog.close();
      before?.focus?.();
    };
  }, []);
  const cancel = (event) => {
    event.preventDefault();
    onClose();
  };
  // A browser may close a window that was not opened by its user without asking whether it may be.
  const closed = () => over.current || onClose();
  return html`<dialog ref=${ref} class=${wide ? "wide" : ""} aria-labelledby=${id} onCancel=${cancel} onClose=${closed}>
    <header><h2 id=${id}>${title}</h2><${IconButton} label="Close" icon="✕" onClick=${onClose} /></header>
    <div class="body">${children}</div>
    ${actions && html`<footer>${actions}</footer>`}
  </dialog>`;
}

/**
 * Sure asks before something is done.
 * @param {{title: string, verb: string, onDo: () => Promise<boolean>, onClose: () => void, busy?: boolean, error?: any, children: any}} props onDo reports whether it was done
 */
export function Sure({ title, verb, onDo, onClose, busy, error, children }) {
  const act = async () => (await onDo()) && onClose();
  return html`<${Dialog} title=${title} onClose=${onClose} actions=${html`<${Button} onClick=${onClose}>Leave it<//><${Button} kind="danger" busy=${busy} onClick=${act}>${verb}<//>`}>
    ${children}<${ErrorBox} error=${error} />
  <//>`;
}
