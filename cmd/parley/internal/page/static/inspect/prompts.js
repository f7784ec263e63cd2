// Prompts: found, filled in, and what the server makes of them.

import { api, useGet } from "../lib/api.js";
import { About, Blocks, Marked, label } from "../lib/content.js";
import { Malformed, listed } from "../lib/listed.js";
import { html, useMemo, useState } from "../lib/preact.js";
import { go } from "../lib/route.js";
import { ofRun, useKept } from "../lib/state.js";
import { Badge, Button, Empty, ErrorBox, Facts, Field, SearchBox, Spinner, Split, VirtualList } from "../lib/ui.js";
import { CompleteInput } from "./complete.js";
import { CallState, useCall } from "./onecall.js";
import { Unfetched } from "./reconnect.js";
import { Head } from "./refresh.js";

/** View is the view of prompts. */
export function View({ connection, route }) {
  const [search, setSearch] = useKept(ofRun(`prompts:${connection.id}:search`), "");
  const got = useGet(`/connections/${connection.id}/lists/prompts`, {}, { list: (event) => event.connection === connection.id });
  const name = route.rest[0];
  const about = got.data?.items?.find((item) => name !== undefined && item?.name === name);
  const list = html`<${Head} connection=${connection} kinds=${["prompts"]} reload=${got.reload} loading=${got.loading}><${SearchBox} label="Search prompts" value=${search} onInput=${setSearch} /><//>
    <${List} connection=${connection} got=${got} search=${search} name=${name} onPick=${(item) => go([connection.id, "prompts", item.name])} />`;
  let detail = html`<${Empty} title="Pick a prompt" />`;
  if (about) detail = html`<${Prompt} key=${name} connection=${connection} about=${about} />`;
  else if (name !== undefined && got.data && !got.data.error) detail = html`<${Empty} title=${`The server lists no prompt "${label(name, 100)}"`} />`;
  return html`<h1 class="unseen">Prompts</h1>
    <${Split} label="Prompts" detailLabel="Prompt" list=${list} detail=${detail} />`;
}

function List({ connection, got: { data, error, loading }, search, name, onPick }) {
  const { good, bad } = useMemo(() => listed(data?.items, "name"), [data]);
  const shown = useMemo(() => found(good, search.toLowerCase()), [good, search]);
  if (!data) return error ? html`<${ErrorBox} error=${error} />` : html`<${Spinner} />`;
  const row = (i) => html`<span class="two-lines"><span class="first">${label(shown[i].title ?? shown[i].name, 200)}</span><span class="second">${label(shown[i].description ?? "", 200)}</span></span>`;
  const empty = html`<${Empty} title=${search ? `No prompts match "${search}"` : data.error ? "What it lists is not known." : "No prompts"} />`;
  return html`<${Unfetched} connection=${connection} error=${data.error ?? error} /><${Malformed} items=${bad} what="prompts" by="name" />
    <${VirtualList} label="Prompts" count=${shown.length} rowHeight=${46} row=${row} keyOf=${(i) => `${i}:${shown[i].name}`} selected=${shown.findIndex((item) => item.name === name)}
      onPick=${(i) => onPick(shown[i])} empty=${loading ? html`<${Spinner} />` : empty} />`;
}

const found = (items, text) => items.filter((item) => [item.name, item.title, item.description].some((part) => typeof part === "string" && part.toLowerCase().includes(text)));

/** Prompt shows a prompt: its arguments to fill in, and its messages. */
function Prompt({ connection, about }) {
  const { good: args, bad } = useMemo(() => listed(Array.isArray(about.arguments) ? about.arguments : [], "name"), [about]);
  const [texts, setTexts] = useKept(ofRun(`prompt:${connection.id}:${about.name}`), {});
  const [missing, setMissing] = useState([]);
  const made = useCall(connection, `prompt:${about.name}`);
  const submit = (event) => {
    event.preventDefault();
    const lacking = args.filter((arg) => arg.required === true && !texts[`=${arg.name}`]).map((arg) => arg.name);
    setMissing(lacking);
    if (lacking.length === 0) made.start("prompts/get", { name: about.name, arguments: chosen(args, texts) });
  };
  return html`<h2>${label(about.title ?? about.name, 300)}</h2>
    ${about.description !== undefined && html`<p class="prose"><${Marked} text=${about.description} lines /></p>`}
    <${Facts} facts=${[["Name", about.title !== undefined && html`<code>${label(about.name, 300)}</code>`]]} />
    <${About} of=${about} /><${Malformed} items=${bad} what="arguments" by="name" />
    <form onSubmit=${submit} novalidate>
      ${args.length === 0 && html`<p class="faint">This prompt has no arguments.</p>`}
      ${args.map((arg) => html`<${Argument} key=${arg.name} connection=${connection} prompt=${about.name} arg=${arg} args=${args} texts=${texts} missing=${missing.includes(arg.name)} onText=${(text) => setTexts((old) => ({ ...old, [`=${arg.name}`]: text }))} />`)}
      <p class="actions"><${Button} type="submit" kind="primary" busy=${made.running}>Get the prompt<//></p>
    </form>
    <${CallState} connection=${connection} made=${made} /> <${Messages} connection=${connection} result=${made.call?.result} />`;
}

/** chosen returns the arguments that were filled in; except leaves one out. */
function chosen(args, texts, except) {
  const values = Object.create(null);
  for (const { name } of args) {
    const text = texts[`=${name}`];
    if (name !== except && text !== undefined && text !== "") values[name] = text;
  }
  return values;
}

function Argument({ connection, prompt, arg, args, texts, missing, onText }) {
  const ask = (value, signal) => api.post(`/connections/${connection.id}/complete`, { prompt, name: arg.name, value, known: chosen(args, texts, arg.name) }, { signal });
  const hint = arg.description === undefined ? undefined : html`<${Marked} text=${arg.description} />`;
  return html`<${Field} label=${label(arg.title ?? arg.name, 200)} hint=${hint} required=${arg.required === true} error=${missing ? "This argument is required" : undefined}>
    <${CompleteInput} value=${texts[`=${arg.name}`] ?? ""} onInput=${onText} ask=${connection.features?.includes("completions") ? ask : undefined} />
  <//>`;
}

function Messages({ connection, result }) {
  if (result === undefined || result === null) return null;
  const messages = Array.isArray(result.messages) ? result.messages : [];
  return html`<section aria-label="Messages">
    ${result.description !== undefined && html`<p class="prose"><${Marked} text=${result.description} lines /></p>`} ${messages.length === 0 && html`<${Empty} title="The server sent no messages" />`}
    ${messages.slice(0, 200).map((message, i) => html`<${Message} key=${i} connection=${connection} message=${message} />`)}
    ${messages.length > 200 && html`<p>${messages.length - 200} more messages are not shown.</p>`}
  </section>`;
}

/** Message is one message of a prompt or a conversation. */
export function Message({ connection, message }) {
  return html`<article class="message">
    <p class="role"><${Badge}>${label(message?.role ?? "no role", 40)}<//></p>
    <${Blocks} blocks=${message?.content} connection=${connection} />
  </article>`;
}
