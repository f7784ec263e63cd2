// A form that a server asks to be filled in.

import { Marked } from "../lib/content.js";
import { parse, stringify } from "../lib/json.js";
import { html, useMemo, useState } from "../lib/preact.js";
import { SchemaForm, defaults, validate } from "../lib/schemaform.js";
import { useKept } from "../lib/state.js";
import { Button, Field, TextArea } from "../lib/ui.js";
import { Refuse } from "./question_refuse.js";

/** Form is a form, made from the schema that the server asks by, with raw JSON beside it. */
export function Form({ connection, question, answer }) {
  const schema = question.params.requestedSchema ?? { type: "object" };
  const key = `question:${connection.id}:${question.id}:${question.asked}`;
  const initial = useMemo(() => defaults(schema), [question.id]);
  const [value, setValue] = useKept(key, initial);
  const [raw, setRaw] = useState(null); // the text while it is edited as JSON
  const [problems, setProblems] = useState([]);
  const [wrong, setWrong] = useState("");
  const submit = (event) => {
    event.preventDefault();
    let content = value;
    if (raw !== null) {
      try {
        content = parse(raw);
      } catch (error) {
        setWrong(`This is not JSON: ${error.message}`);
        return;
      }
      setValue(content);
    }
    const found = validate(schema, content);
    setProblems(found);
    setWrong(raw !== null && found.length > 0 ? found.map(({ pointer, message }) => `${pointer || "the form"}: ${message}`).join("; ") : "");
    if (found.length === 0) answer.send({ action: "accept", content });
  };
  const toggle = () => {
    setWrong("");
    if (raw === null) {
      setRaw(stringify(value ?? {}, 2));
      return;
    }
    try {
      setValue(parse(raw));
      setRaw(null);
    } catch (error) {
      setWrong(`This is not JSON: ${error.message}`);
    }
  };
  return html`<p class="prose message-text"><${Marked} text=${question.params.message} lines /></p>
    <form onSubmit=${submit} novalidate>
      ${raw === null
        ? html`<${SchemaForm} schema=${schema} value=${value} onChange=${setValue} errors=${problems} idPrefix=${`${question.id}-`} />`
        : html`<${Field} label="Content as JSON" error=${wrong || undefined}><${TextArea} class="mono" rows=${8} value=${raw} onInput=${setRaw} /><//>`}
      <p class="actions">
        <${Button} type="submit" kind="primary" busy=${answer.busy}>Accept<//> <${Refuse} answer=${answer} noun="form" />
        <${Button} kind="link" onClick=${toggle}>${raw === null ? "Edit as JSON" : "Edit as a form"}<//>
      </p>
    </form>`;
}
