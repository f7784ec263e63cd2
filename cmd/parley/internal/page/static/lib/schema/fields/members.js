import { label } from "../../content.js";
import { html, useState } from "../../preact.js";
import { Button, TextInput } from "../../ui.js";
import { filler } from "../defaults.js";
import { list } from "../document.js";
import { matches } from "../limits.js";
import { otherSchema } from "../shape.js";
import { has, isObject, member, pointer, withMember } from "../value.js";
import { useForm } from "./context.js";
import { FormField } from "./field.js";

const step = 60; // properties that are shown at a time

/** Members is a field for an object: its properties, and members of other names where there may be some. */
export function Members({ made, at, value, onChange }) {
  const form = useForm();
  const [find, setFind] = useState("");
  const [most, setMost] = useState(step);
  const object = value ?? {};
  const properties = isObject(member(made.schema, "properties")) ? made.schema.properties : {};
  const names = Object.keys(properties);
  const required = new Set(list(made.schema, "required"));
  const others = [...new Set([...Object.keys(object), ...required])].filter((name) => !has(properties, name));
  const wanted = find === "" ? names : names.filter((name) => name.toLowerCase().includes(find.toLowerCase()));
  // What is wrong must be seen, wherever it is.
  const shown = wanted.filter((name, i) => i < most || form.errors.has(pointer(at, name))).slice(0, most + 200);
  const change = (name) => (next) => onChange(withMember(object, name, next));
  return html`${names.length > step && html`<${TextInput} type="search" class="search" value=${find} onInput=${setFind} aria-label="Find a property" placeholder=${`Find among ${names.length} properties`} />`}
    ${shown.map((name) => html`<${FormField} key=${`p${name}`} schema=${properties[name]} value=${member(object, name)} onChange=${change(name)} at=${pointer(at, name)} name=${name} required=${required.has(name)} />`)}
    ${wanted.length > shown.length && html`<${Button} kind="link" onClick=${() => setMost(most + 2 * step)}>${`Show more (${wanted.length - shown.length} are left)`}<//>`}
    ${others.slice(0, most).map((name) => html`<${FormField} key=${`o${name}`} schema=${otherSchema(made.schema, name, matches) ?? true} value=${member(object, name)} onChange=${change(name)} at=${pointer(at, name)} name=${name} required=${required.has(name)} />`)}
    ${others.length > most && html`<${Button} kind="link" onClick=${() => setMost(most + 2 * step)}>${`Show more (${others.length - most} are left)`}<//>`}
    <${Another} made=${made} object=${object} onChange=${onChange} none=${names.length === 0 && others.length === 0} />`;
}

/** Another adds a member of any name that the schema allows. */
function Another({ made, object, onChange, none }) {
  const form = useForm();
  const [name, setName] = useState("");
  const rest = member(made.schema, "additionalProperties");
  const open = rest !== undefined ? rest !== false : none;
  if (!open && !isObject(member(made.schema, "patternProperties"))) return none ? html`<p class="faint">There is nothing to fill in.</p>` : null;
  const schema = otherSchema(made.schema, name, matches);
  const why = name === "" ? "" : has(object, name) || has(made.schema.properties, name) ? "There is one of this name." : schema === undefined ? "The schema allows no such name." : "";
  const add = () => {
    onChange(withMember(object, name, filler(form.document, schema)));
    setName("");
  };
  const keys = (event) => {
    if (event.key !== "Enter" || name === "" || why) return;
    event.preventDefault();
    add();
  };
  return html`<div class="row another">
    <${TextInput} value=${name} onInput=${setName} onKeyDown=${keys} aria-label="Name of another member" placeholder="Name of another member" />
    <${Button} onClick=${add} disabled=${name === "" || why !== ""} aria-label=${name ? `Add ${label(name, 60)}` : "Add a member"}>Add<//>
    ${why && html`<span class="faint">${why}</span>`}
  </div>`;
}
