// What servers log, and which of it they are asked to send.

import { api, save, useGet, useRead, withParams } from "../lib/api.js";
import { label } from "../lib/content.js";
import { stringify } from "../lib/json.js";
import { html, useMemo, useState } from "../lib/preact.js";
import { go, href } from "../lib/route.js";
import { ofRun, useKept } from "../lib/state.js";
import { Badge, Button, Check, Empty, ErrorBox, Facts, Field, Json, SearchBox, Select, Spinner, Split, Time, VirtualList } from "../lib/ui.js";
import { asked, grown } from "./log-entries.js";
import { Ping } from "./ping.js";

export const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const kindOf = (level) => ({ warning: "warning", error: "error", critical: "error", alert: "error", emergency: "error" })[level] ?? "";

/** View is the view of the log. */
export function View({ connection, route }) {
  const [least, setLeast] = useKept(ofRun(`log:${connection.id}:least`), "");
  const [search, setSearch] = useKept(ofRun(`log:${connection.id}:search`), "");
  const [tail, setTail] = useKept(ofRun(`log:${connection.id}:tail`), true);
  const mine = (event) => event.connection === connection.id;
  const path = `/connections/${connection.id}/log`;
  const filter = { level: least, q: search };
  const get = async (known, signal) => grown(known, await api.get(path, asked(filter, known), { signal }));
  const { data, error, reload } = useRead(withParams(path, filter), get, { log: mine });
  const entries = data?.entries ?? [];
  const picked = entries.find((entry) => String(entry.n) === route.params.n);
  const clear = () => api.del(path).then(reload);
  const list = html`<div class="log-head">
      <${SearchBox} label="Search the log" value=${search} onInput=${setSearch} />
      <${Field} label="Show from"><${Select} value=${least} onChange=${setLeast} options=${[{ value: "", label: "every level" }, ...levels]} /><//>
      <${Check} checked=${tail} onChange=${setTail} label="Follow" />
      <${Button} disabled=${entries.length === 0} onClick=${() => save(new Blob(entries.map((entry) => `${stringify(entry)}\n`), { type: "application/jsonl" }), "log.jsonl")}>Export<//> <${Button} disabled=${!data || data.last === 0} onClick=${clear}>Clear<//>
    </div>
    <${ErrorBox} error=${error} /> ${data?.dropped > 0 && html`<p class="faint">${data.dropped} older messages are no longer kept.</p>`}
    ${data ? html`<${Entries} entries=${entries} tail=${tail} picked=${picked} filtered=${least !== "" || search !== ""} onPick=${(entry) => go([connection.id, "log"], { n: entry.n })} />` : !error && html`<${Spinner} />`}`;
  return html`<div class="log-view">
    <h1>Log</h1>
    <div class="log-tools"><${Level} connection=${connection} /> <${Ping} connection=${connection} /></div>
    <${Split} label="Messages" detailLabel="Message" list=${list} detail=${picked ? html`<${Entry} connection=${connection} entry=${picked} />` : html`<${Empty} title="Pick a message" />`} />
  </div>`;
}

function Entries({ entries, tail, picked, filtered, onPick }) {
  const texts = useMemo(() => entries.map(({ data, cut }) => (cut ? `${cut} bytes, too long to be kept` : typeof data === "string" ? data : stringify(data))), [entries]);
  const row = (i) => html`<span class="log-row"><${Time} at=${entries[i].at} /> <${Badge} kind=${kindOf(entries[i].level)}>${label(entries[i].level, 20)}<//> <span class="faint">${label(entries[i].logger ?? "", 60)}</span> <span class="log-text">${label(texts[i], 300)}</span></span>`;
  const empty = html`<${Empty} title=${filtered ? "No message matches" : "The server has logged nothing"}>${!filtered && "Servers send log messages once a level is asked for, and some by themselves."}<//>`;
  return html`<${VirtualList} label="Log messages" count=${entries.length} rowHeight=${28} tail=${tail} row=${row} keyOf=${(i) => entries[i].n} selected=${picked ? entries.indexOf(picked) : -1} onPick=${(i) => onPick(entries[i])} empty=${empty} />`;
}

function Entry({ connection, entry }) {
  return html`<${Facts}
      facts=${[
        ["Level", html`<${Badge} kind=${kindOf(entry.level)}>${label(entry.level, 40)}<//>`],
        ["Logger", label(entry.logger ?? "", 1000)],
        ["Came", html`<${Time} at=${entry.at} />`],
        ["Call", entry.call && html`<a href=${href([connection.id, "tools"], { call: entry.call })}>${label(entry.call, 40)}</a>`],
      ]}
    />
    ${entry.cut ? html`<p>The data has ${entry.cut} bytes, too many to be kept here. The traffic has the message as it came.</p>` : html`<${Json} value=${entry.data} label="Data" open=${3} />`}`;
}

/** Level asks the server for log messages. */
function Level({ connection }) {
  const path = `/connections/${connection.id}/loglevel`;
  const { data, error, reload } = useGet(path, {}, { connection: (event) => event.id === connection.id });
  const [failure, setFailure] = useState(undefined);
  const choose = async (level) => {
    setFailure(undefined);
    try {
      await api.put(path, { level });
      reload();
    } catch (failed) {
      setFailure(failed);
    }
  };
  const hints = [
    connection.capabilities && connection.capabilities.logging === undefined && "The server does not declare that it logs.",
    data?.deprecated && "This revision of the protocol deprecates logging to the client. The level goes along with every request.",
  ].filter(Boolean);
  const options = [{ value: "", label: "what it likes", disabled: true }, ...levels];
  return html`<${Field} label="Ask the server for" hint=${hints.join(" ")}><${Select} value=${data?.level ?? ""} onChange=${choose} options=${options} disabled=${!data} /><//>
    <${ErrorBox} error=${failure ?? error} />`;
}
