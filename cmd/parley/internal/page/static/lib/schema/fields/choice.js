import { label } from "../../content.js";
import { html, useRef, useState } from "../../preact.js";
import { Field, Select } from "../../ui.js";
import { filler, initial } from "../defaults.js";
import { fits, problemsOf } from "../validate.js";
import { called, idOf, useForm } from "./context.js";
import { FormField } from "./field.js";

/** Choice is a field that can have one of several forms. What was typed in one is kept while another is tried. */
export function Choice({ made, at, value, onChange, fixed, name }) {
  const form = useForm();
  const [picked, pick] = useState(null);
  const before = useRef({});
  const current = value === undefined && !fixed ? -1 : (picked ?? nearest(form.document, made.alternatives, value));
  const choose = (text) => {
    before.current[current] = value;
    if (text === "") {
      pick(null);
      onChange(undefined);
      return;
    }
    const next = Number(text);
    pick(next);
    const { schema } = made.alternatives[next];
    onChange(before.current[next] ?? initial(form.document, schema, true) ?? filler(form.document, schema));
  };
  const options = [...(fixed ? [] : [{ value: "", label: "– left out –" }]), ...made.alternatives.map((form, i) => ({ value: String(i), label: label(form.label, 100) }))];
  return html`<${Field} label=${html`Form<span class="unseen"> of ${called(name)}</span>`} id=${`${idOf(form.prefix, at)}-form`}>
      <${Select} value=${current < 0 ? "" : String(current)} onChange=${choose} options=${options} />
    <//>
    ${current >= 0 && html`<${FormField} key=${current} schema=${made.alternatives[current].schema} value=${value} onChange=${onChange} at=${at} name=${label(made.alternatives[current].label, 100)} fixed />`}`;
}

const most = 50;

/** nearest returns which form a value has: the first that it fits, or the one with the fewest problems. */
function nearest(document, alternatives, value) {
  const some = alternatives.slice(0, most);
  const fitting = some.findIndex(({ schema }) => fits(document, schema, value));
  if (fitting >= 0) return fitting;
  const problems = some.map(({ schema }) => {
    const found = problemsOf(document, schema, value);
    return found.length + (found.some(({ pointer }) => pointer === "") ? 1000 : 0);
  });
  return problems.indexOf(Math.min(...problems));
}
