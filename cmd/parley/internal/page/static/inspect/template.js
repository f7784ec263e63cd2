// One resource template: its variables, filled in with what the server proposes, and what is read.

import { api } from "../lib/api.js";
import { About, Marked, label } from "../lib/content.js";
import { html, useMemo } from "../lib/preact.js";
import { href } from "../lib/route.js";
import { ofRun, useKept } from "../lib/state.js";
import { Button, Copy, Facts, Field, Notice, TextArea } from "../lib/ui.js";
import { expand, parse } from "../lib/uritemplate.js";
import { CompleteInput } from "./complete.js";
import { CallState, useCall } from "./onecall.js";
import { ReadResult } from "./resource.js";

/** Template shows a template as a form of its variables. */
export function Template({ connection, about }) {
  const template = about.uriTemplate;
  const { parsed, wrong } = useMemo(() => read(template), [template]);
  const [texts, setTexts] = useKept(ofRun(`template:${connection.id}:${template}`), {});
  const made = useCall(connection, `read:${template}`);
  const uri = parsed && expand(parsed, filled(parsed, texts));
  const submit = (event) => {
    event.preventDefault();
    made.start("resources/read", { uri });
  };
  return html`<h2>${label(about.title ?? about.name ?? template, 300)}</h2>
    ${about.description !== undefined && html`<p class="prose"><${Marked} text=${about.description} lines /></p>`}
    <${Facts} facts=${[["Template", html`<code class="wrap">${label(template, 2000)}</code>`], ["Name", about.title !== undefined && about.name !== undefined && label(about.name, 300)], ["Type", about.mimeType !== undefined && label(about.mimeType, 100)]]} />
    <${About} of=${about} />
    ${wrong && html`<${Notice} kind="error" title="This template cannot be filled in">${label(wrong, 500)}. A URI that it may mean can be opened by itself, above the list.<//>`}
    ${parsed &&
    html`<form onSubmit=${submit}>
      ${parsed.names.map((name) => html`<${Variable} key=${name} connection=${connection} template=${template} name=${name} list=${parsed.lists.has(name)} texts=${texts} onText=${(text) => setTexts((old) => ({ ...old, [`=${name}`]: text }))} />`)}
      <${Field} label="URI"><output class="mono wrap">${label(uri, 4000)}</output><//>
      <p class="actions">
        <${Button} type="submit" kind="primary" busy=${made.running}>Read<//> <a class="button" href=${href([connection.id, "resources"], { uri })}>Open as a resource</a> <${Copy} text=${uri} label="Copy URI" />
      </p>
    </form>`}
    <${CallState} connection=${connection} made=${made} /> <${ReadResult} result=${made.call?.result} />`;
}

function read(template) {
  try {
    return { parsed: parse(template) };
  } catch (error) {
    return { wrong: error.message };
  }
}

// Keys begin with "=", so that no name of a variable is that of something every object has.
const text = (texts, name) => texts[`=${name}`] ?? "";

/** filled returns the values of a template's variables. An empty field is one that is left out. */
function filled({ names, lists }, texts) {
  const values = new Map();
  for (const name of names) {
    const typed = text(texts, name);
    if (typed !== "") values.set(name, lists.has(name) ? typed.split("\n").filter((line) => line !== "") : typed);
  }
  return values;
}

function Variable({ connection, template, name, list, texts, onText }) {
  const ask = (value, signal) => {
    const known = Object.create(null);
    for (const [key, other] of Object.entries(texts)) if (key !== `=${name}` && other !== "") known[key.slice(1)] = other;
    return api.post(`/connections/${connection.id}/complete`, { template, name, value, known }, { signal });
  };
  const completes = connection.features?.includes("completions");
  return html`<${Field} label=${label(name, 200)} hint=${list ? "A list: one value a line" : undefined}>
    ${list ? html`<${TextArea} rows=${3} value=${text(texts, name)} onInput=${onText} />` : html`<${CompleteInput} value=${text(texts, name)} onInput=${onText} ask=${completes ? ask : undefined} />`}
  <//>`;
}
