// What can be pressed and filled in.

import { cloneElement, html, useId } from "../preact.js";

/**
 * Button is a button with a text. With busy it shows that something is under way, and cannot be pressed.
 * @param {{kind?: "primary"|"danger"|"plain"|"link", busy?: boolean, onClick: (event: Event) => void, children: any}} props
 */
export function Button({ kind = "", busy = false, disabled = false, type = "button", class: name = "", children, ...rest }) {
  return html`<button type=${type} class=${`button ${kind} ${name}`} disabled=${disabled || busy} aria-busy=${busy ? "true" : undefined} ...${rest}>${children}</button>`;
}

/**
 * IconButton is a button with a sign; label is its name.
 * @param {{label: string, icon: string, onClick: (event: Event) => void}} props
 */
export function IconButton({ label, icon, class: name = "", ...rest }) {
  return html`<button type="button" class=${`button icon ${name}`} aria-label=${label} title=${label} ...${rest}><span aria-hidden="true">${icon}</span></button>`;
}

/**
 * Field gives a control, its one child, a label, a hint and an error.
 * @param {{label: any, hint?: any, error?: any, required?: boolean, id?: string, children: any}} props
 */
export function Field({ label, hint, error, required = false, id, children }) {
  const own = useId();
  const control = [children].flat().find(Boolean);
  const name = id ?? control?.props?.id ?? own;
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(" ");
  return html`<div class=${`field ${error ? "wrong" : ""}`}>
    <label for=${name}>${label}${required && html` <span class="required">required</span>`}</label>
    ${hint && html`<div class="hint" id=${`${name}-hint`}>${hint}</div>`}
    ${control &&
    cloneElement(control, { id: name, "aria-describedby": described || undefined, "aria-invalid": error ? "true" : undefined, "aria-required": required ? "true" : undefined })}
    ${error && html`<div class="error" id=${`${name}-error`}>${error}</div>`}
  </div>`;
}

const typed = (onInput) => (event) => onInput?.(event.currentTarget.value);

/**
 * TextInput is a line of text.
 * @param {{value: string, onInput: (value: string) => void, type?: string}} props
 */
export function TextInput({ value, onInput, type = "text", class: name = "", ...rest }) {
  return html`<input type=${type} class=${`text ${name}`} value=${value ?? ""} onInput=${typed(onInput)} autocomplete="off" spellcheck=${false} ...${rest} />`;
}

/**
 * TextArea is a text of several lines.
 * @param {{value: string, onInput: (value: string) => void, rows?: number}} props
 */
export function TextArea({ value, onInput, rows = 4, class: name = "", ...rest }) {
  return html`<textarea class=${`text ${name}`} rows=${rows} value=${value ?? ""} onInput=${typed(onInput)} spellcheck=${false} ...${rest}></textarea>`;
}

/**
 * Select is a choice.
 * @param {{value: string, onChange: (value: string) => void, options: (string|{value: string, label: any, disabled?: boolean})[]}} props
 */
export function Select({ value, onChange, options, class: name = "", ...rest }) {
  const items = options.map((option) => (typeof option === "string" ? { value: option, label: option } : option));
  return html`<select class=${`text ${name}`} value=${value} onChange=${typed(onChange)} ...${rest}>
    ${items.map((item) => html`<option key=${item.value} value=${item.value} disabled=${item.disabled} selected=${item.value === value}>${item.label}</option>`)}
  </select>`;
}

/**
 * Check is a box to tick.
 * @param {{checked: boolean, onChange: (checked: boolean) => void, label: any, hint?: any}} props
 */
export function Check({ checked, onChange, label, hint, id, ...rest }) {
  const own = useId();
  const name = id ?? own;
  return html`<div class="check">
    <input type="checkbox" id=${name} checked=${checked} onChange=${(event) => onChange?.(event.currentTarget.checked)} aria-describedby=${hint ? `${name}-hint` : undefined} ...${rest} />
    <label for=${name}>${label}</label>
    ${hint && html`<div class="hint" id=${`${name}-hint`}>${hint}</div>`}
  </div>`;
}

/**
 * SearchBox is where a list is searched; the key / leads to it, and Escape empties it.
 * @param {{value: string, onInput: (value: string) => void, label: string}} props
 */
export function SearchBox({ value, onInput, label, ...rest }) {
  const keys = (event) => {
    if (event.key !== "Escape" || !value) return;
    event.stopPropagation();
    onInput("");
  };
  return html`<${TextInput} type="search" class="search" data-search="" aria-label=${label} placeholder=${label} value=${value} onInput=${onInput} onKeyDown=${keys} ...${rest} />`;
}
