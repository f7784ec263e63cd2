// The servers that configuration files name. The files are only read.

import { api, useGet } from "../lib/api.js";
import { html, useState } from "../lib/preact.js";
import { useKept } from "../lib/state.js";
import { label } from "../lib/text.js";
import { Badge, Button, Empty, ErrorBox, Notice, SearchBox, Spinner } from "../lib/ui.js";
import { Inputs, wanted } from "./connect-inputs.js";
import { blank } from "./connect-model.js";

/** Found lists them. */
export function Found({ onConnected }) {
  const { data, error, loading, reload } = useGet("/servers");
  const [search, setSearch] = useKept("servers-search", "");
  const files = data?.files ?? [];
  const many = files.reduce((n, file) => n + file.servers.length, 0) > 6;
  return html`<section class="card" aria-label="Servers in configuration files">
    <div class="row"><h2 class="grow">In configuration files</h2>${many && html`<div><${SearchBox} label="Search servers" value=${search} onInput=${setSearch} /></div>`}<${Button} busy=${loading} onClick=${reload}>Read again<//></div>
    <p class="hint">Of Parley, Claude, Claude Code, Cursor and VS Code, in this folder and yours. They are only read; secrets are masked.</p>
    <${ErrorBox} error=${error} /> ${!data && !error && html`<${Spinner} />`} ${data && files.length === 0 && html`<${Empty} title="No configuration file was found" />`}
    ${files.map((file) => html`<${File} key=${file.file} file=${file} search=${search} onConnected=${onConnected} />`)}
  </section>`;
}

function File({ file, search, onConnected }) {
  const shown = file.servers.filter((server) => JSON.stringify(server).toLowerCase().includes(search.trim().toLowerCase()));
  if (search && shown.length === 0) return null;
  return html`<div class="config">
    <h3><code>${label(file.file, 500)}</code> ${file.program && html`<${Badge}>${file.program}<//>`}</h3>
    ${file.problem && html`<${Notice} kind="error" title="This file cannot be read.">${label(file.problem, 1000)}<//>`} ${!file.problem && file.servers.length === 0 && html`<p class="faint">It names no server.</p>`}
    <ul class="servers">${shown.map((server) => html`<${Server} key=${server.name} file=${file.file} server=${server} onConnected=${onConnected} />`)}</ul>
  </div>`;
}

function Server({ file, server, onConnected }) {
  const [error, setError] = useState(undefined);
  const [busy, setBusy] = useState(false);
  const [asking, ask] = useState(false);
  const entry = { name: server.name, file };
  const connect = async () => {
    if (wanted(server.inputs).length > 0) {
      ask(true);
      return;
    }
    setBusy(true);
    setError(undefined);
    try {
      onConnected(await api.post("/connections", { entry }), { ...blank, entry, title: "" });
    } catch (failed) {
      setError(failed);
      setBusy(false);
    }
  };
  const what = server.url ?? [server.command, ...(server.args ?? [])].join(" ");
  const settings = Object.entries({ ...server.env, ...server.headers });
  return html`<li>
    <div class="grow">
      <div class="row"><strong>${label(server.name, 200)}</strong>${server.disabled && html`<${Badge} title="The program that the file is for does not use it">disabled<//>`}</div>
      ${server.command || server.url ? html`<code>${label(what, 500)}</code>` : null}
      ${settings.length > 0 && html`<div class="faint">${settings.map(([name, value]) => `${label(name, 100)}=${label(value, 100)}`).join("  ")}</div>`}
      ${server.problem && html`<p class="error">${label(server.problem, 1000)}</p>`} <${ErrorBox} error=${error} />
    </div>
    <${Button} busy=${busy} disabled=${Boolean(server.problem)} aria-label=${`Connect to ${label(server.name, 100)}`} onClick=${connect}>Connect${wanted(server.inputs).length > 0 ? "…" : ""}<//>
    ${asking && html`<${Inputs} entry=${entry} inputs=${server.inputs} onConnected=${onConnected} onClose=${() => ask(false)} />`}
  </li>`;
}
