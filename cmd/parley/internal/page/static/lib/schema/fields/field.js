// One field of a form, whatever its schema is.

import { label } from "../../content.js";
import { stringify } from "../../json.js";
import { html, useState } from "../../preact.js";
import { Button, Field, Notice } from "../../ui.js";
import { filler, initial } from "../defaults.js";
import { shape } from "../shape.js";
import { equal, has, kindOf, member, steps } from "../value.js";
import { Choice } from "./choice.js";
import { Said, called, errorsAt, idOf, useForm } from "./context.js";
import { JsonInput } from "./json.js";
import { List } from "./list.js";
import { Members } from "./members.js";
import { Flags, Null, Numeral, OneOf, Text, YesNo } from "./simple.js";

const simple = { string: Text, number: Numeral, boolean: YesNo, null: Null, enum: OneOf, flags: Flags, json: JsonInput };
const groups = { array: List, object: Members, choice: Choice };
const deepest = 12;

/**
 * FormField shows the part of a value that is at a place. onChange gets undefined for a part
 * that is left out; with fixed it cannot be.
 * @param {{schema: unknown, value: unknown, onChange: (value: unknown) => void, at: string, name?: string, required?: boolean, fixed?: boolean, actions?: any}} props
 */
export function FormField(props) {
  const form = useForm();
  const { schema, value, at, fixed } = props;
  const made = fitted(shape(form.document, schema, value), value, at);
  const title = member(made.schema, "title");
  const name = { name: props.name ?? "", title: typeof title === "string" ? title : "" };
  const all = { ...props, form, made, name, nullable: made.nullable && value !== null, absent: value === undefined && !fixed };
  return groups[made.kind] ? html`<${Group} ...${all} />` : html`<${Single} ...${all} />`;
}

/** fitted makes JSON of a field that cannot show the value that it has. */
function fitted(made, value, at) {
  const kind = kindOf(value);
  const json = (reason) => ({ ...made, kind: "json", reason });
  if (steps(at).length > deepest && groups[made.kind]) return json("It is nested too deeply for a form.");
  if (kind === "absent" || made.kind === "json" || made.kind === "choice") return made;
  if (kind === "null") return made.kind === "enum" || made.kind === "null" ? made : { ...made, kind: "null" };
  if (made.kind === "enum") return made.options.some((option) => equal(option.value, value)) ? made : json("Its value is none of those that the schema lists.");
  if (made.kind === "flags") return flagsOr(made, value);
  if (made.kind !== kind) return json(`Its value is ${kind === "array" || kind === "object" ? "an" : "a"} ${kind}, which the schema does not have here.`);
  // A text field would change these.
  if (made.kind === "string" && /[^\P{Cc}\n\t]/u.test(value)) return json("Its value has characters that a text field cannot hold.");
  return made;
}

function flagsOr(made, value) {
  if (!Array.isArray(value)) return { ...made, kind: "json", reason: "Its value is not a list." };
  const known = value.every((item, i) => made.options.some((option) => equal(option.value, item)) && !value.slice(0, i).some((other) => equal(other, item)));
  return known ? made : { ...made, kind: "array" };
}

const Named = ({ name: { name, title } }) => html`${label(title || name || "Value", 120)}${title && name && title !== name ? html` <code class="faint">${label(name, 120)}</code>` : null}`;

function hints({ made }) {
  const { schema, reason, kind } = made;
  const notes = [
    schema.deprecated === true && "Deprecated.",
    schema.readOnly === true && "Set by the server.",
    typeof schema["x-mcp-header"] === "string" && `Also sent in the header Mcp-Param-${label(schema["x-mcp-header"], 60)}, by itself.`,
    kind === "json" && reason,
    has(schema, "default") && `Default: ${brief(schema.default)}`,
  ].filter(Boolean);
  const description = member(schema, "description");
  const said = typeof description === "string" && description !== "";
  return said || notes.length > 0 ? html`<${Said} text=${description} />${notes.map((note) => html`<div>${note}</div>`)}` : undefined;
}

const brief = (value) => {
  const text = stringify(value);
  return label(text.length > 100 ? `${text.slice(0, 100)}…` : text, 120);
};

/** Single is a field of one control. */
function Single({ form, made, name, at, value, onChange, required, fixed, absent, nullable, actions }) {
  const Control = simple[made.kind];
  return html`<div class="form-field">
    <${Field} label=${html`<${Named} name=${name} />`} hint=${hints({ made })} error=${errorsAt(form, at)} required=${required} id=${idOf(form.prefix, at)}>
      <${Control} at=${at} made=${made} value=${value} onChange=${onChange} fixed=${fixed} />
    <//>
    <div class="form-actions">
      ${made.kind === "string" && absent && mayBeEmpty(made.schema) && html`<${Button} kind="link" onClick=${() => onChange("")} aria-label=${`Give ${called(name)} an empty text`}>Empty text<//>`}
      ${made.kind === "string" && value === "" && html`<span class="faint">empty text</span>`}
      <${Examples} made=${made} onChange=${onChange} name=${name} />
      ${nullable && html`<${Button} kind="link" onClick=${() => onChange(null)} aria-label=${`Make ${called(name)} null`}>null<//>`}
      <${Leave} value=${value} fixed=${fixed} onChange=${onChange} name=${name} always=${value === null || ["string", "json", "flags"].includes(made.kind)} />
      ${actions}
    </div>
  </div>`;
}

const mayBeEmpty = ({ format, pattern, minLength }) => format === undefined && pattern === undefined && !(minLength > 0);

const Leave = ({ value, fixed, onChange, name, always }) =>
  value !== undefined && !fixed && always && html`<${Button} kind="link" onClick=${() => onChange(undefined)} aria-label=${`Leave out ${called(name)}`}>Leave out<//>`;

/** Examples has the values that the schema gives as examples. */
function Examples({ made, onChange, name }) {
  const [open, show] = useState(false);
  const { examples } = made.schema;
  if (!Array.isArray(examples) || examples.length === 0) return null;
  return html`<${Button} kind="link" aria-expanded=${open ? "true" : "false"} aria-label=${`Examples of ${called(name)}`} onClick=${() => show(!open)}>Examples<//>
    ${open && html`<span class="examples">${examples.slice(0, 10).map((example, i) => html`<${Button} key=${i} kind="plain" onClick=${() => onChange(example)}>${brief(example)}<//>`)}</span>`}`;
}

/** Group is a field with fields in it. */
function Group({ form, made, name, at, schema, value, onChange, required, fixed, absent, nullable, actions }) {
  const Body = groups[made.kind];
  // The form that was chosen is a field of the same place, and has its ID and errors.
  const chosen = made.kind === "choice" && !absent;
  const error = chosen ? undefined : errorsAt(form, at);
  const id = chosen ? undefined : idOf(form.prefix, at);
  const begin = () => onChange(initial(form.document, schema, true) ?? filler(form.document, schema));
  const bare = at === "" && name.name === "";
  if (absent && made.kind !== "choice") {
    return html`<div class="form-field absent" id=${id} tabindex="-1">
      <div class="row"><span class="group-name"><${Named} name=${name} />${required && html` <span class="required">required</span>`}</span>
        <${Button} kind="plain" onClick=${begin} aria-label=${`Fill in ${called(name)}`}>Fill in<//>
        ${nullable && html`<${Button} kind="link" onClick=${() => onChange(null)} aria-label=${`Make ${called(name)} null`}>null<//>`}
        <${Examples} made=${made} onChange=${onChange} name=${name} />
      </div>
      ${hints({ made }) && html`<div class="hint">${hints({ made })}</div>`}${error && html`<div class="error">${error}</div>`}
    </div>`;
  }
  const content = html`<${Body} made=${made} at=${at} schema=${schema} value=${value} onChange=${onChange} fixed=${fixed} name=${name} />`;
  const head = html`${hints({ made }) && html`<div class="hint">${hints({ made })}</div>`} ${error && html`<${Notice} kind="error">${error}<//>`}`;
  if (bare) return html`<div id=${id} tabindex="-1">${head}${content}</div>`;
  return html`<fieldset id=${id} tabindex="-1" class=${error ? "wrong" : ""}>
    <legend><${Named} name=${name} />${required && html` <span class="required">required</span>`}</legend>
    ${head}${content}
    <div class="form-actions">
      <${Examples} made=${made} onChange=${onChange} name=${name} />
      ${nullable && html`<${Button} kind="link" onClick=${() => onChange(null)} aria-label=${`Make ${called(name)} null`}>null<//>`}
      <${Leave} value=${value} fixed=${fixed} onChange=${onChange} name=${name} always=${made.kind !== "choice" || !absent} />
      ${actions}
    </div>
  </fieldset>`;
}
