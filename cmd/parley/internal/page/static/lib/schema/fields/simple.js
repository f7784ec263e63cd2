// Fields of one value each. Every one gets {at, made, value, onChange, fixed, control}: control has
// what Field gives its control, and fixed says that the value cannot be left out.

import { label } from "../../content.js";
import { parse } from "../../json.js";
import { html, useState } from "../../preact.js";
import { Check, Select, TextArea, TextInput } from "../../ui.js";
import { isInteger, isNumeral } from "../decimal.js";
import { formatOf } from "../formats.js";
import { chosen } from "../shape.js";
import { equal, has, member, numberText } from "../value.js";
import { useDraft } from "./json.js";

const first = (schema) => (Array.isArray(member(schema, "examples")) ? schema.examples[0] : undefined);

const inputs = { email: "email", uri: "url", "uri-reference": "url", iri: "url" };
const pickers = { date: "date" };

/** Text is a field for a string: of several lines, unless the schema says that it is short. */
export function Text({ at, made, value, onChange, fixed, ...control }) {
  const { schema } = made;
  const format = formatOf(member(schema, "format"));
  const example = first(schema);
  const placeholder = typeof example === "string" ? example : (format?.example ?? "");
  const secret = schema.format === "password" || schema.writeOnly === true;
  const short = secret || format !== undefined || has(schema, "pattern") || schema.maxLength <= 100;
  if (short && !/\n/.test(value ?? "")) {
    const type = secret ? "password" : (pickers[schema.format] ?? "text");
    const shown = type === "date" && value !== undefined && !format.holds(value) ? "text" : type;
    return html`<${TextInput} value=${value} onInput=${onChange} type=${shown} inputmode=${inputs[schema.format]} placeholder=${placeholder} ...${control} />`;
  }
  return html`<${TextArea} value=${value} onInput=${onChange} rows=${schema.contentMediaType ? 4 : 1} class="grows" placeholder=${placeholder} ...${control} />`;
}

const readNumber = (whole, fixed) => (text) => {
  const trimmed = text.trim().replace(/^\+/, "");
  if (trimmed === "" && !fixed) return undefined;
  if (!isNumeral(trimmed)) throw new SyntaxError(whole ? "This is not an integer." : "This is not a number. Write it with a point, such as 1.5 or 2e6.");
  if (whole && !isInteger(trimmed)) throw new SyntaxError("This is not an integer.");
  return parse(trimmed);
};

/** Numeral is a field for a number, every digit of which stays. */
export function Numeral({ at, made, value, onChange, fixed, ...control }) {
  const [{ text }, type] = useDraft(at, value, numberText, readNumber(made.whole, fixed), onChange);
  const { minimum, maximum } = made.schema;
  const bounds = [minimum, maximum].map((bound) => (bound === undefined ? "" : numberText(bound)));
  const placeholder = bounds.some(Boolean) ? `${bounds[0] || "…"} to ${bounds[1] || "…"}` : "";
  return html`<${TextInput} value=${text} onInput=${type} inputmode=${made.whole ? "numeric" : "decimal"} class="numeral" placeholder=${placeholder} ...${control} />`;
}

const without = (fixed, value) => (fixed ? [] : [{ value: "", label: value === undefined ? "– left out –" : "– leave out –" }]);

/** YesNo is a field for true and false, and for neither. */
export function YesNo({ at, made, value, onChange, fixed, ...control }) {
  const change = (text) => onChange(text === "" ? undefined : text === "true");
  return html`<${Select} value=${value === undefined ? "" : String(value)} onChange=${change} options=${[...without(fixed, value), "true", "false"]} ...${control} />`;
}

const many = 300;

/** OneOf is a choice of values. Of very many, those are offered that a text is in. */
export function OneOf({ at, made, value, onChange, fixed, ...control }) {
  const [find, setFind] = useState("");
  const now = value === undefined ? -1 : chosen(made.options, value);
  const long = made.options.length > many;
  const entries = made.options.map((option, i) => ({ value: String(i), label: nameOf(option) }));
  const fitting = long ? entries.filter((entry, i) => i === now || entry.label.toLowerCase().includes(find.toLowerCase())).slice(0, many) : entries;
  const options = [...without(fixed, value), ...fitting];
  const change = (text) => onChange(text === "" ? undefined : made.options[Number(text)].value);
  return html`${long && html`<${TextInput} type="search" value=${find} onInput=${setFind} aria-label="Find among the values" placeholder=${`Find among ${made.options.length} values`} />`}
    <${Select} value=${now < 0 ? "" : String(now)} onChange=${change} options=${options} ...${control} />`;
}

const nameOf = (option) => label(option.note ? `${option.label} (${option.note})` : option.label, 120);

/** Flags is a list of values each of which is there or not. */
export function Flags({ at, made, value, onChange, fixed, id, ...control }) {
  const list = value ?? [];
  const flip = (option) => (on) => onChange(on ? [...list, option.value] : list.filter((item) => !equal(item, option.value)));
  return html`<div class="flags" id=${id} role="group" tabindex="-1" ...${control}>
    ${made.options.map((option, i) => html`<${Check} key=${i} label=${nameOf(option)} checked=${list.some((item) => equal(item, option.value))} onChange=${flip(option)} />`)}
  </div>`;
}

/** Null is a field for null. */
export const Null = ({ value, made, onChange, fixed, at, ...control }) => html`<output class="mono" ...${control}>${value === null ? "null" : "left out"}</output>`;
