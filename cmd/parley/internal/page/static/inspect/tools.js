// The tools of a server: a list to search, and the one that was picked.

import { useGet } from "../lib/api.js";
import { label } from "../lib/content.js";
import { html, useEffect, useMemo } from "../lib/preact.js";
import { go } from "../lib/route.js";
import { ofRun, useKept } from "../lib/state.js";
import { Badge, Button, Empty, ErrorBox, SearchBox, Spinner, Split, Time, VirtualList } from "../lib/ui.js";
import { CallView } from "./call.js";
import { Unfetched, isGone } from "./reconnect.js";
import { Head } from "./refresh.js";
import { Tool } from "./tool.js";

/** View lists the tools of a connection and shows one. */
export function View({ connection, route }) {
  const topics = { list: (event) => event.connection === connection.id && event.kind === "tools", connection: (event) => event.connection === connection.id };
  const { data, error, loading, reload } = useGet(`/connections/${connection.id}/lists/tools`, {}, topics);
  const [query, setQuery] = useKept(ofRun(`tools-search:${connection.id}`), "");
  const tools = data?.items ?? [];
  const index = useMemo(() => tools.map(words), [tools]);
  const found = useMemo(() => search(index, query), [index, query]);
  const lone = route.rest[0] === undefined ? route.params.call : undefined;
  if (!data) return error ? html`<${ErrorBox} error=${error}><${Button} onClick=${reload}>Try again<//><//>${lone && html`<${OfCall} connection=${connection} id=${lone} tools=${tools} />`}` : html`<${Spinner} label="Loading the tools" />`;
  const picked = pickedOf(tools, route);
  const unknown = !data.fetched && (data.error || isGone(connection));
  const pick = (i) => go([connection.id, "tools", nameOf(tools[found[i]])], twins(tools, found[i]) ? { n: found[i] } : {});
  const list = html`
    <${Head} connection=${connection} kinds=${["tools"]} reload=${reload} loading=${loading}><${SearchBox} value=${query} onInput=${setQuery} label="Search tools" /><//>
    <p class="faint tools-count" aria-live="polite">${unknown ? "" : count(found.length, tools.length)}${data.fetched && html` · fetched <${Time} at=${data.fetched} />`}</p>
    <${Unfetched} connection=${connection} error=${data.error} />
    <${VirtualList} count=${found.length} rowHeight=${52} label="Tools" selected=${found.indexOf(picked)} onPick=${pick} row=${(i) => html`<${Row} tool=${tools[found[i]]} />`} empty=${html`<${Empty} title=${tools.length > 0 ? "No tool fits the search." : unknown ? "What it lists is not known." : "The server lists no tools."} />`} />`;
  const nothing = lone ? html`<${OfCall} key=${lone} connection=${connection} id=${lone} tools=${tools} />` : html`<${Nothing} route=${route} unknown=${unknown} />`;
  const detail = picked >= 0 ? html`<${Tool} key=${`${route.rest[0]}:${picked}`} connection=${connection} tool=${tools[picked]} route=${route} />` : nothing;
  return html`<h1 class="unseen">Tools</h1>
    <${Split} label="Tools" list=${list} detail=${detail} detailLabel="Tool" />`;
}

const Nothing = ({ route, unknown }) =>
  route.rest[0] === undefined || unknown ? html`<${Empty} title="Pick a tool">Its description, a form for its arguments and the results of its calls are shown here.<//>` : html`<${Empty} title=${`The server lists no tool “${label(route.rest[0])}”.`} />`;

/** OfCall shows a call of which the address has only the ID; that of a tool leads to the tool. */
function OfCall({ connection, id, tools }) {
  const { data, error } = useGet(`/connections/${connection.id}/calls/${encodeURIComponent(id)}`);
  const name = data?.method === "tools/call" ? data.params?.name : undefined;
  const listed = name !== undefined && tools.some((tool) => nameOf(tool) === name);
  useEffect(() => {
    if (listed) go([connection.id, "tools", name], { call: id }, { replace: true });
  }, [listed]);
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (!data || listed) return html`<${Spinner} />`;
  return html`<p class="faint">Of <code>${label(data.method, 100)}</code> ${label(data.subject ?? "", 200)}</p><${CallView} connection=${connection} id=${id} />`;
}

const count = (found, all) => (found === all ? `${all.toLocaleString("en")} tools` : `${found.toLocaleString("en")} of ${all.toLocaleString("en")} tools`);

const nameOf = (tool) => (typeof tool?.name === "string" ? tool.name : "");
const twins = (tools, i) => tools.some((tool, other) => other !== i && nameOf(tool) === nameOf(tools[i]));

/** pickedOf returns which tool the address names; n tells those of one name apart. */
function pickedOf(tools, route) {
  const [name] = route.rest;
  if (name === undefined) return -1;
  const n = Number(route.params.n);
  if (route.params.n !== undefined && nameOf(tools[n]) === name) return n;
  return tools.findIndex((tool) => nameOf(tool) === name);
}

/** words returns the texts in which a tool is searched for. */
const words = (tool) => [tool?.name, tool?.title, tool?.annotations?.title, tool?.description].filter((text) => typeof text === "string").join("\n").toLowerCase();

function search(index, query) {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  const all = index.map((_, i) => i);
  return wanted.length === 0 ? all : all.filter((i) => wanted.every((word) => index[i].includes(word)));
}

function Row({ tool }) {
  const title = tool?.title ?? tool?.annotations?.title;
  const description = typeof tool?.description === "string" ? tool.description.slice(0, 300).replaceAll(/\s+/g, " ") : "";
  return html`<div class="tool-row">
    <div class="tool-name"><span class="cut"><strong>${label(nameOf(tool) || "(a tool without a name)", 120)}</strong>${title && title !== tool.name && html` <span>${label(title, 120)}</span>`}</span> <span class="tool-marks-short">${badges(tool).map(({ kind, text }) => html`<${Badge} key=${text} kind=${kind}>${text}<//> `)}</span></div>
    <div class="cut faint">${label(description, 250)}</div>
  </div>`;
}

/** badges returns what the annotations of a tool claim, and how it runs. */
export function badges(tool) {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool?.annotations ?? {};
  return [
    tool?._meta?.ui && { kind: "accent", text: "app", about: "An app shows its results." },
    readOnlyHint === true && { kind: "good", text: "read-only", about: "It says that it changes nothing." },
    readOnlyHint !== true && destructiveHint === true && { kind: "warning", text: "destructive", about: "It says that it may destroy something." },
    readOnlyHint !== true && idempotentHint === true && { text: "idempotent", about: "It says that calling it again changes nothing more." },
    openWorldHint === true && { text: "open world", about: "It says that it deals with what is outside of the server." },
    tool?.execution?.taskSupport === "required" && { kind: "accent", text: "task only", about: "It runs only as a task." },
    tool?.execution?.taskSupport === "optional" && { kind: "accent", text: "task", about: "It can run as a task." },
  ].filter(Boolean);
}
