// Two connections side by side: two servers, or two revisions of one.

import { api, useGet } from "../lib/api.js";
import { label } from "../lib/content.js";
import { html, useState } from "../lib/preact.js";
import { go, href } from "../lib/route.js";
import { Button, Empty, ErrorBox, Field, Select, Spinner, Tabs } from "../lib/ui.js";
import { Call } from "./compare/call.js";
import { Lists } from "./compare/lists.js";
import { Places } from "./compare/places.js";
import { diff } from "../lib/diff.js";

/** View is the page that compares. */
export function View({ route }) {
  const { data, error } = useGet("/connections", {}, ["connection"]);
  const root = useGet("/");
  if (!data || !root.data) return error ?? root.error ? html`<${ErrorBox} error=${error ?? root.error} />` : html`<${Spinner} />`;
  const all = data.connections;
  const { a, b, tab = "server" } = route.params;
  const left = all.find(({ id }) => id === a);
  const right = all.find(({ id }) => id === b);
  const choose = (side) => (id) => go("compare", { ...route.params, [side]: id });
  return html`<h1>Compare</h1>
    ${all.length === 0 && html`<${Empty} title="There is no connection"><a href=${href("home")}>Connect to a server</a><//>`}
    ${all.length > 0 && html`<div class="pair"><${Side} label="Left" all=${all} value=${left} onChange=${choose("a")} /> <${Side} label="Right" all=${all} value=${right} onChange=${choose("b")} /></div>`}
    ${left && html`<${Another} connection=${left} revisions=${root.data.revisions} onOpen=${choose("b")} />`}
    ${left && right && html`<${Tabs} label="What to compare" tabs=${tabs} current=${tab} onChange=${(to) => go("compare", { ...route.params, tab: to })}><${Both} key=${`${a} ${b}`} tab=${tab} left=${left} right=${right} /><//>`}
    ${all.length > 0 && !(left && right) && html`<${Empty} title="Pick two connections" />`}`;
}

const tabs = [
  { id: "server", title: "Server" },
  { id: "tools", title: "Tools" },
  { id: "resources", title: "Resources" },
  { id: "templates", title: "Templates" },
  { id: "prompts", title: "Prompts" },
  { id: "skills", title: "Skills" },
  { id: "call", title: "The same call" },
];

function Both({ tab, left, right }) {
  if (tab === "call") return html`<${Call} left=${left} right=${right} />`;
  if (tab === "server") return html`<${Servers} left=${left} right=${right} />`;
  return html`<${Lists} key=${tab} kind=${tab} left=${left} right=${right} />`;
}

const name = ({ id, title, revision, state }) => `${label(title, 60)} · ${id}${revision ? ` · ${revision}` : ""}${state === "up" ? "" : ` · ${state}`}`;

function Side({ label: text, all, value, onChange }) {
  const options = [{ value: "", label: "choose a connection", disabled: true }, ...all.map((connection) => ({ value: connection.id, label: name(connection) }))];
  return html`<${Field} label=${text}><${Select} value=${value?.id ?? ""} options=${options} onChange=${onChange} /><//>`;
}

/** Another opens a second connection to the same server, in a revision of choice. */
function Another({ connection, revisions, onOpen }) {
  const [revision, setRevision] = useState("");
  const [state, setState] = useState({});
  const others = revisions.filter((one) => one !== connection.revision);
  const open = async () => {
    setState({ busy: true });
    try {
      const { id } = await api.post("/connections", { like: connection.id, revision: revision || others[0] });
      setState({});
      onOpen(id);
    } catch (error) {
      setState({ error });
    }
  };
  return html`<div class="another">
    <${Field} label="Compare with another revision of the left one"><${Select} value=${revision || others[0]} options=${others} onChange=${setRevision} /><//>
    <${Button} busy=${state.busy} onClick=${open}>Connect<//>
    <${ErrorBox} error=${state.error} />
  </div>`;
}

function Servers({ left, right }) {
  const of = ({ server, revision, transport, instructions, capabilities }) => ({ server, revision, transport, instructions, capabilities });
  const waiting = [left, right].find(({ revision }) => !revision);
  if (waiting) return html`<${Empty} title=${`${label(waiting.title, 60)} is not connected`} />`;
  return html`<${Places} places=${diff(of(left), of(right))} />`;
}
