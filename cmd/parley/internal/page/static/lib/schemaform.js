// Forms made of JSON Schemas.

import { stringify } from "./json.js";
import { html, useEffect, useMemo, useRef, useState } from "./preact.js";
import { defaults } from "./schema/defaults.js";
import { Document } from "./schema/document.js";
import { Form, idOf } from "./schema/fields/context.js";
import { FormField } from "./schema/fields/field.js";
import { JsonInput } from "./schema/fields/json.js";
import { validate } from "./schema/validate.js";
import { pointer, steps } from "./schema/value.js";
import { keep, kept } from "./state.js";
import { Field } from "./ui.js";

export { defaults, validate };

/** grouped returns the messages of problems by their place. */
function grouped(problems) {
  const groups = new Map();
  for (const { pointer, message } of problems ?? []) groups.set(pointer, [...(groups.get(pointer) ?? []), message]);
  return groups;
}

/**
 * SchemaForm is a form for a value. What was typed and is no value (yet) does not change it; it
 * is shown at its field, and onDrafts gets it.
 * @param {{
 *   schema: unknown, value: unknown, onChange: (value: unknown) => void, idPrefix: string,
 *   errors?: {pointer: string, message: string}[], onDrafts?: (problems: {pointer: string, message: string}[]) => void,
 * }} props
 */
export function SchemaForm({ schema, value, onChange, errors, idPrefix, onDrafts }) {
  const document = useMemo(() => new Document(schema), [schema]);
  const [draft, drafts] = useDrafts(onDrafts);
  const groups = useMemo(() => grouped([...(errors ?? []), ...drafts]), [errors, drafts]);
  return html`<${Form.Provider} value=${{ document, errors: groups, prefix: idPrefix, draft }}>
    <div class="schema-form"><${FormField} schema=${schema} value=${value} onChange=${onChange} at="" /></div>
  <//>`;
}

/** useDrafts keeps what was typed and is no value. */
function useDrafts(onDrafts) {
  const [drafts, setDrafts] = useState([]);
  const draft = useMemo(
    () => (at, message) =>
      setDrafts((old) => {
        if ((old.find(({ pointer }) => pointer === at)?.message ?? "") === message) return old;
        const others = old.filter(({ pointer }) => pointer !== at);
        return message ? [...others, { pointer: at, message }] : others;
      }),
    [],
  );
  useEffect(() => onDrafts?.(drafts), [drafts]);
  return [draft, drafts];
}

const ways = [
  ["form", "Form"],
  ["both", "Form and JSON"],
  ["json", "JSON"],
];

/**
 * SchemaEditor is a form with its value as JSON beside it: either changes the other. onProblems gets
 * what was typed and is no value, so that nobody sends less than is seen.
 * @param {{
 *   schema: unknown, value: unknown, onChange: (value: unknown) => void, idPrefix: string, label: string,
 *   errors?: {pointer: string, message: string}[], onProblems?: (problems: {pointer: string, message: string}[]) => void,
 * }} props
 */
export function SchemaEditor({ schema, value, onChange, errors, idPrefix, label, onProblems }) {
  const [way, setWay] = useState(() => kept("schema-editor", matchMedia("(min-width: 90rem)").matches ? "both" : "form"));
  const inForm = useRef([]);
  const inText = useRef([]);
  const tell = (place) => (problems) => {
    place.current = problems;
    onProblems?.([...inForm.current, ...inText.current]);
  };
  const pick = (next) => () => {
    keep("schema-editor", next);
    setWay(next);
  };
  return html`<div class=${`schema-editor ${way}`}>
    <div class="editor-ways" role="group" aria-label=${`${label} as`}>${ways.map(([id, title]) => html`<button key=${id} type="button" aria-pressed=${id === way ? "true" : "false"} onClick=${pick(id)}>${title}</button>`)}</div>
    ${way !== "json" && html`<${SchemaForm} schema=${schema} value=${value} onChange=${onChange} errors=${errors} idPrefix=${idPrefix} onDrafts=${tell(inForm)} />`}
    ${way !== "form" && html`<${RawJson} value=${value} onChange=${onChange} errors=${way === "json" ? errors : []} idPrefix=${`${idPrefix}-json`} label=${label} onDrafts=${tell(inText)} />`}
  </div>`;
}

/** RawJson is a value as JSON, to be edited. */
function RawJson({ value, onChange, errors, idPrefix, label, onDrafts }) {
  const [draft, drafts] = useDrafts(onDrafts);
  const all = [...drafts, ...(errors ?? [])].map(({ pointer, message }) => (pointer === "" ? message : `${pointer} ${message}`));
  const lines = stringify(value, 2).split("\n").length;
  return html`<${Form.Provider} value=${{ document: null, errors: new Map(), prefix: idPrefix, draft }}>
    <div class="raw-json">
      <${Field} label=${html`JSON<span class="unseen"> of ${label}</span>`} error=${all.length > 0 ? all.slice(0, 20).join("; ") : undefined}>
        <${JsonInput} at="" value=${value} onChange=${onChange} fixed placeholder="" rows=${Math.max(8, Math.min(30, lines + 1))} />
      <//>
    </div>
  <//>`;
}

/** focusProblem leads to the field at a place, or to the nearest one that there is above it. */
export function focusProblem(idPrefix, place) {
  const parts = steps(place);
  for (let n = parts.length; n >= 0; n--) {
    const at = parts.slice(0, n).reduce((to, step) => pointer(to, step), "");
    const field = document.getElementById(idOf(idPrefix, at));
    if (!field) continue;
    field.scrollIntoView({ block: "center" });
    field.focus();
    return true;
  }
  return false;
}
