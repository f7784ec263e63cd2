// What a configuration file leaves to the user: asked for before its server is connected to.

import { api } from "../lib/api.js";
import { html, useState } from "../lib/preact.js";
import { label } from "../lib/text.js";
import { Button, Dialog, ErrorBox, Field, Select, TextInput } from "../lib/ui.js";
import { blank } from "./connect-model.js";

/** wanted are the inputs of a server that no variable has a value for. */
export const wanted = (inputs) => (inputs ?? []).filter(({ set }) => !set);

/** Inputs asks for values and connects. They are sent to parley, and kept nowhere else. */
export function Inputs({ entry, inputs, onConnected, onClose }) {
  const asked = wanted(inputs);
  const [values, setValues] = useState(() => Object.fromEntries(asked.map((input) => [input.id, input.password ? "" : (input.default ?? "")])));
  const [error, setError] = useState(undefined);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const given = Object.entries(values).map(([name, value]) => ({ name, value }));
      onConnected(await api.post("/connections", { entry, inputs: given }), { ...blank, entry, inputs });
    } catch (failed) {
      setError(failed);
      setBusy(false);
    }
  };
  const known = asked.some(({ id }) => error?.field === `inputs.${id}`);
  return html`<${Dialog} title=${`Connect to ${label(entry.name, 200)}`} onClose=${onClose}>
    <form class="stack" aria-label="Inputs" onSubmit=${submit} novalidate>
      <p class="hint">The file leaves ${asked.length === 1 ? "this value" : "these values"} to you. It is not changed; parley keeps them while it runs.</p>
      ${asked.map((input, i) => html`<${One} key=${input.id} first=${i === 0} input=${input} value=${values[input.id]} onInput=${(value) => setValues((old) => ({ ...old, [input.id]: value }))} error=${error?.field === `inputs.${input.id}` ? error.message : undefined} />`)}
      ${error && !known && html`<${ErrorBox} error=${error} />`}
      <p class="row"><${Button} type="submit" kind="primary" busy=${busy}>Connect<//> <${Button} onClick=${onClose}>Cancel<//></p>
    </form>
  <//>`;
}

function One({ input, first, value, onInput, error }) {
  const { id, description, password, options, variable } = input;
  const hint = html`<code>${`\${input:${label(id, 100)}}`}</code>, or set the variable <code>${label(variable, 120)}</code> before parley starts${password && input.default ? "; empty is the default of the file" : ""}`;
  const title = label(description || id, 300);
  if (options?.length > 0) {
    const offered = options.includes(value) ? options : [{ value: "", label: "choose one" }, ...options];
    return html`<${Field} label=${title} hint=${hint} error=${error}><${Select} value=${value} autofocus=${first} onChange=${onInput} options=${offered} /><//>`;
  }
  return html`<${Field} label=${title} hint=${hint} error=${error}><${TextInput} class="mono" type=${password ? "password" : "text"} autofocus=${first} value=${value} autocomplete=${password ? "new-password" : "off"} onInput=${onInput} /><//>`;
}
