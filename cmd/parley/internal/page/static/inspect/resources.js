// Resources and templates: found, read, and watched.

import { useGet } from "../lib/api.js";
import { label } from "../lib/content.js";
import { Malformed, listed } from "../lib/listed.js";
import { html, useMemo } from "../lib/preact.js";
import { go } from "../lib/route.js";
import { ofRun, useKept } from "../lib/state.js";
import { Badge, Button, Empty, ErrorBox, Field, SearchBox, Spinner, Split, Tabs, TextInput, VirtualList } from "../lib/ui.js";
import { Unfetched } from "./reconnect.js";
import { Head } from "./refresh.js";
import { Resource } from "./resource.js";
import { Template } from "./template.js";

/** View is the view of resources. */
export function View({ connection, route }) {
  const { uri, template } = route.params;
  const [tab, setTab] = useKept(ofRun(`resources:${connection.id}:tab`), template ? "templates" : "resources");
  const [search, setSearch] = useKept(ofRun(`resources:${connection.id}:search`), "");
  const here = (params) => go([connection.id, "resources"], params);
  const mine = (event) => event.connection === connection.id;
  const resources = useGet(`/connections/${connection.id}/lists/resources`, {}, { list: mine });
  const templates = useGet(`/connections/${connection.id}/lists/templates`, {}, { list: mine });
  const watched = useGet(`/connections/${connection.id}/subscriptions`, {}, { resource: mine });
  const again = () => {
    resources.reload();
    templates.reload();
  };
  const subscriptions = watched.data?.subscriptions ?? [];
  const tabs = [
    { id: "resources", title: html`Resources <${Count} list=${resources.data?.items} />` },
    { id: "templates", title: html`Templates <${Count} list=${templates.data?.items} />` },
    { id: "watched", title: html`Watched <${Count} list=${subscriptions} />` },
  ];
  const rows = {
    resources: { got: resources, by: "uri", picked: uri, pick: (item) => here({ uri: item.uri }), what: "resources" },
    templates: { got: templates, by: "uriTemplate", picked: template, pick: (item) => here({ template: item.uriTemplate }), what: "templates" },
    watched: { got: { ...watched, data: watched.data && { items: subscriptions } }, by: "uri", picked: uri, pick: (item) => here({ uri: item.uri }), what: "resources that are watched" },
  };
  const list = html`<${ByURI} connection=${connection} onRead=${(text) => here({ uri: text })} />
    <${Head} connection=${connection} kinds=${["resources", "templates"]} reload=${again} loading=${resources.loading || templates.loading}><${SearchBox} label=${`Search ${rows[tab].what}`} value=${search} onInput=${setSearch} /><//>
    <${Tabs} label="Lists" tabs=${tabs} current=${tab} onChange=${setTab}><${Rows} key=${tab} connection=${connection} ...${rows[tab]} search=${search} /><//>`;
  return html`<h1 class="unseen">Resources</h1>
    <${Split} label="Resources" detailLabel="Resource" list=${list} detail=${detail({ connection, uri, template, resources, templates, subscriptions, reload: watched.reload })} />`;
}

const Count = ({ list }) => (list?.length > 0 ? html`<${Badge}>${list.length}<//>` : null);

function detail({ connection, uri, template, resources, templates, subscriptions, reload }) {
  if (uri !== undefined) {
    const about = resources.data?.items?.find((item) => item?.uri === uri);
    return html`<${Resource} key=${uri} connection=${connection} uri=${uri} about=${about} watch=${subscriptions.find((at) => at.uri === uri)} onWatch=${reload} />`;
  }
  if (template !== undefined) {
    const about = templates.data?.items?.find((item) => item?.uriTemplate === template) ?? { uriTemplate: template };
    return html`<${Template} key=${template} connection=${connection} about=${about} />`;
  }
  return html`<${Empty} title="Pick a resource or a template">What you pick is shown here; nothing is read before you say so.<//>`;
}

function ByURI({ connection, onRead }) {
  const [text, setText] = useKept(ofRun(`resources:${connection.id}:uri`), "");
  const submit = (event) => {
    event.preventDefault();
    if (text.trim()) onRead(text.trim());
  };
  return html`<form class="by-uri" onSubmit=${submit}>
    <${Field} label="By its URI"><${TextInput} value=${text} onInput=${setText} placeholder="file:///…" /><//>
    <${Button} type="submit" disabled=${!text.trim()}>Open<//>
  </form>`;
}

/** Rows is a list of what has a URI. */
function Rows({ connection, got, by, what, picked, pick, search }) {
  const { data, error, loading } = got;
  const { good, bad } = useMemo(() => listed(data?.items, by), [data, by]);
  const shown = useMemo(() => found(good, search, by), [good, search, by]);
  if (!data) return error ? html`<${ErrorBox} error=${error} />` : html`<${Spinner} />`;
  const empty = html`<${Empty} title=${search ? `No ${what} match "${search}"` : data.error ? "What it lists is not known." : `No ${what}`} />`;
  const row = (i) => html`<${Row} item=${shown[i]} uri=${shown[i][by]} />`;
  return html`<${Unfetched} connection=${connection} error=${data.error ?? error} /><${Malformed} items=${bad} what=${what} by=${by} />
    <${VirtualList} label=${what} count=${shown.length} rowHeight=${46} row=${row} keyOf=${(i) => `${i}:${shown[i][by]}`} selected=${shown.findIndex((item) => item[by] === picked)}
      onPick=${(i) => pick(shown[i])} empty=${loading ? html`<${Spinner} />` : empty} />`;
}

function found(items, search, by) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return items;
  const text = (item) => [item[by], item.name, item.title, item.description].filter((part) => typeof part === "string").join("\n").toLowerCase();
  return items.filter((item) => words.every((word) => text(item).includes(word)));
}

function Row({ item, uri }) {
  const name = item.title ?? item.name;
  return html`<span class="two-lines">
    <span class="first">${label(name ?? uri, 200)} ${item.state && html`<${Badge} kind=${item.state === "open" ? "good" : "warning"}>${item.count}<//>`}</span>
    <span class="second mono">${label(uri, 300)}</span>
  </span>`;
}
