// A form that a server asks to be filled in.

import { Marked } from "../lib/content.js";
import { html, useMemo, useRef, useState } from "../lib/preact.js";
import { SchemaEditor, defaults, validate } from "../lib/schemaform.js";
import { ofRun, useKept } from "../lib/state.js";
import { Button, announce } from "../lib/ui.js";
import { Refuse } from "./question_refuse.js";

/** Form is a form, made from the schema that the server asks by, with JSON beside it. */
export function Form({ connection, question, answer }) {
  const schema = question.params.requestedSchema ?? { type: "object" };
  const first = useMemo(() => defaults(schema), [question.id]);
  const [value, setValue] = useKept(ofRun(`question:${connection.id}:${question.id}:${question.asked}`), first);
  const [problems, setProblems] = useState([]);
  const typed = useRef([]); // what was typed and is no value
  const submit = (event) => {
    event.preventDefault();
    const found = validate(schema, value);
    setProblems(found);
    const wrong = found.length + typed.current.length;
    if (wrong === 0) answer.send({ action: "accept", content: value });
    else announce(`${wrong} ${wrong === 1 ? "field is" : "fields are"} not right`, { urgent: true });
  };
  return html`<p class="prose message-text"><${Marked} text=${question.params.message} lines /></p>
    <form onSubmit=${submit} novalidate>
      <${SchemaEditor} schema=${schema} value=${value} onChange=${setValue} errors=${problems} idPrefix=${question.id} label="Content" onProblems=${(found) => (typed.current = found)} />
      <p class="actions"><${Button} type="submit" kind="primary" busy=${answer.busy}>Accept<//> <${Refuse} answer=${answer} noun="form" /></p>
    </form>`;
}
