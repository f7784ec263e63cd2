import { html, useState } from "../../preact.js";
import { Button, IconButton } from "../../ui.js";
import { filler } from "../defaults.js";
import { itemSchema, tupleOf } from "../shape.js";
import { member, moved, pointer, withItem } from "../value.js";
import { called, useForm } from "./context.js";
import { FormField } from "./field.js";

const step = 50; // items that are shown at a time

/** List is a field for an array: items can be added, moved and removed. */
export function List({ made, at, value, onChange, name }) {
  const form = useForm();
  const [most, setMost] = useState(step);
  const items = value ?? [];
  const next = itemSchema(made.schema, items.length);
  const { maxItems } = made.schema;
  const full = next === undefined || items.length >= maxItems;
  const add = () => {
    onChange([...items, filler(form.document, next)]);
    setMost(Math.max(most, items.length + 1));
  };
  const tuple = tupleOf(made.schema).length;
  return html`${items.length === 0 && html`<p class="faint">The list is empty.</p>`}
    <ol class="items">
      ${items.slice(0, most).map(
        (item, i) =>
          html`<li key=${i}>
            <${FormField} schema=${itemSchema(made.schema, i) ?? true} value=${item} onChange=${(v) => onChange(withItem(items, i, v))} at=${pointer(at, i)} name=${`Item ${i + 1}`} fixed=${true} actions=${html`<${Moves} i=${i} items=${items} onChange=${onChange} tuple=${i < tuple} of=${called(name)} />`} />
          </li>`,
      )}
    </ol>
    ${items.length > most && html`<${Button} kind="link" onClick=${() => setMost(most + step)}>${`Show more (${items.length - most} are left)`}<//>`}
    <div class="row">
      <${Button} onClick=${add} disabled=${full} aria-label=${`Add an item to ${called(name)}`}>Add an item<//>
      <span class="faint">${bounds(made.schema, items.length)}</span>
    </div>`;
}

function Moves({ i, items, onChange, tuple, of }) {
  const where = `item ${i + 1} of ${of}`;
  return html`<span class="moves">
    ${!tuple && html`<${IconButton} label=${`Move ${where} up`} icon="↑" disabled=${i === 0} onClick=${() => onChange(moved(items, i, i - 1))} />
      <${IconButton} label=${`Move ${where} down`} icon="↓" disabled=${i === items.length - 1} onClick=${() => onChange(moved(items, i, i + 1))} />`}
    <${IconButton} label=${`Remove ${where}`} icon="✕" onClick=${() => onChange(withItem(items, i, undefined))} />
  </span>`;
}

function bounds(schema, count) {
  const [least, most] = [member(schema, "minItems"), member(schema, "maxItems")];
  if (least === undefined && most === undefined) return "";
  return `${count} of ${least ?? 0} to ${most ?? "any number of"} items`;
}
