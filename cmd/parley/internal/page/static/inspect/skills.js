// Skills: what a server lists, and what of it passes the checks of a host.

import { useGet } from "../lib/api.js";
import { label } from "../lib/content.js";
import { Malformed, listed } from "../lib/listed.js";
import { html, useMemo } from "../lib/preact.js";
import { go } from "../lib/route.js";
import { ofRun, useKept } from "../lib/state.js";
import { Button, Empty, ErrorBox, Field, SearchBox, Spinner, Split, TextInput, VirtualList } from "../lib/ui.js";
import { Unfetched } from "./reconnect.js";
import { Head } from "./refresh.js";
import { Skill } from "./skill.js";

/** View is the view of skills. */
export function View({ connection, route }) {
  const { uri, file } = route.params;
  const [search, setSearch] = useKept(ofRun(`skills:${connection.id}:search`), "");
  const got = useGet(`/connections/${connection.id}/lists/skills`, {}, { list: (event) => event.connection === connection.id });
  const open = (params) => go([connection.id, "skills"], params);
  const list = html`<${ByURI} connection=${connection} onOpen=${(text) => open({ uri: text })} />
    <${Head} connection=${connection} kinds=${["skills"]} reload=${got.reload} loading=${got.loading}><${SearchBox} label="Search skills" value=${search} onInput=${setSearch} /><//>
    <${List} connection=${connection} got=${got} search=${search} uri=${uri} onPick=${(item) => open({ uri: item.uri })} />`;
  const detail = uri ? html`<${Skill} key=${uri} connection=${connection} uri=${uri} file=${file} onFile=${(name) => open({ uri, file: name })} />` : html`<${Empty} title="Pick a skill">Its files are checked against what the server says of them. That proves that they belong together, and nothing about whether they are to be trusted.<//>`;
  return html`<h1 class="unseen">Skills</h1>
    <${Split} label="Skills" detailLabel="Skill" list=${list} detail=${detail} />`;
}

function ByURI({ connection, onOpen }) {
  const [text, setText] = useKept(ofRun(`skills:${connection.id}:uri`), "");
  const submit = (event) => {
    event.preventDefault();
    if (text.trim()) onOpen(text.trim());
  };
  return html`<form class="by-uri" onSubmit=${submit}>
    <${Field} label="By its URI"><${TextInput} value=${text} onInput=${setText} placeholder="skill://…/SKILL.md" /><//>
    <${Button} type="submit" disabled=${!text.trim()}>Open<//>
  </form>`;
}

const nameOf = (item) => item.frontmatter?.name ?? item.uri;

function List({ connection, got: { data, error, loading }, search, uri, onPick }) {
  const { good, bad } = useMemo(() => listed(data?.items, "uri"), [data]);
  const shown = useMemo(() => {
    const text = search.toLowerCase();
    return good.filter((item) => [item.uri, item.frontmatter?.name, item.frontmatter?.description].some((part) => typeof part === "string" && part.toLowerCase().includes(text)));
  }, [good, search]);
  if (!data) return error ? html`<${ErrorBox} error=${error} />` : html`<${Spinner} />`;
  const row = (i) => html`<span class="two-lines"><span class="first">${label(nameOf(shown[i]), 200)}</span><span class="second">${label(shown[i].frontmatter?.description ?? "", 200)}</span></span>`;
  const empty = html`<${Empty} title=${search ? `No skills match "${search}"` : data.error ? "What it lists is not known." : "The server lists no skills"}>${!search && !data.error && "It may have some all the same; open them by their URIs."}<//>`;
  return html`<${Unfetched} connection=${connection} error=${data.error ?? error} /><${Malformed} items=${bad} what="skills" by="uri" />
    <${VirtualList} label="Skills" count=${shown.length} rowHeight=${46} row=${row} keyOf=${(i) => `${i}:${shown[i].uri}`} selected=${shown.findIndex((item) => item.uri === uri)} onPick=${(i) => onPick(shown[i])}
      empty=${loading ? html`<${Spinner} />` : empty} />`;
}
