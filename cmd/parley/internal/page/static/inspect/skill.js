// One skill: its entry, its files, and what came of the checks.

import { api, useGet } from "../lib/api.js";
import { Binary, Text, label, size } from "../lib/content.js";
import { html, useState } from "../lib/preact.js";
import { href } from "../lib/route.js";
import { Badge, Button, Copy, Empty, ErrorBox, Facts, Json, Notice, Spinner } from "../lib/ui.js";

const root = (uri) => uri.slice(0, uri.lastIndexOf("/") + 1);

/** folder is the URI of the directory that has a file or a directory. */
const folder = (uri) => uri.slice(0, uri.lastIndexOf("/"));

const lastPart = (uri) => uri.slice(uri.lastIndexOf("/") + 1);

/** Skill shows a skill by the URI of its SKILL.md. */
export function Skill({ connection, uri, file, onFile }) {
  const path = `/connections/${connection.id}/skills`;
  const { data, error, loading, reload } = useGet(`${path}/entry`, { uri });
  const [checks, setChecks] = useState({});
  if (!data) return error ? html`<${ErrorBox} error=${error}><${Button} onClick=${reload}>Try again<//><//>` : html`<${Spinner} />`;
  const { entry, check, approval } = data;
  const checkAll = async () => {
    setChecks({ busy: true });
    try {
      setChecks({ found: await api.get(`${path}/check`, { uri, fresh: 1 }) });
    } catch (failed) {
      setChecks({ error: failed });
    }
  };
  const { name, description, ...rest } = entry.frontmatter ?? {};
  return html`<h2>${label(name ?? uri, 200)} <${Verdict} check=${check} /></h2>
    ${description !== undefined && html`<p class="prose">${label(description, 2000)}</p>`} <${Failed} check=${check} />
    <${Facts}
      facts=${[
        ["URI", html`<code class="wrap">${label(uri, 2000)}</code>`],
        ["Approval", approval && html`<code class="wrap">${approval}</code> <${Copy} text=${approval} />`],
        ["Frontmatter", Object.keys(rest).length > 0 && html`<${Json} value=${rest} open=${1} label="Frontmatter" />`],
        ["Asks for tools", rest["allowed-tools"] !== undefined && "what allowed-tools asks for is not granted by anybody"],
      ]}
    />
    <p class="actions"><${Button} busy=${checks.busy} onClick=${checkAll}>Check all files<//> <${Button} busy=${loading} onClick=${reload}>Read the entry again<//></p>
    <${ErrorBox} error=${checks.error} /> <${Files} connection=${connection} entry=${entry} checks=${checks.found} file=${file} onFile=${onFile} />
    ${check.ok && html`<${File} key=${file} connection=${connection} uri=${uri} file=${file ?? uri} />`}`;
}

const Verdict = ({ check }) => html`<${Badge} kind=${check.ok ? "good" : "error"}>${check.ok ? "fits" : `fails: ${check.check ?? "not read"}`}<//>`;

const Failed = ({ check }) => (check.ok ? null : html`<${Notice} kind="error" title=${`This must not be used: the check "${check.check ?? "read"}" fails.`}>${label(check.why, 1000)}<//>`);

function Files({ connection, entry, checks, file, onFile }) {
  const files = entry.resources;
  const directories = connection.capabilities?.extensions?.["io.modelcontextprotocol/skills"]?.directoryRead === true;
  const found = (uri) => checks?.files.find((check) => check.file === uri);
  return html`<h3>Files</h3>
    ${!Array.isArray(files) && html`<p>This skill is dynamic: its files have no digests, and its content is made anew whenever it is read.</p>`}
    ${checks && html`<p role="status">${summary(checks)}</p>`}
    <ul class="plain files">
      ${(Array.isArray(files) ? files : [{ uri: entry.uri }]).slice(0, 600).map((f) => html`<li key=${f.uri}>
        <${Button} kind="link" aria-current=${f.uri === (file ?? entry.uri) ? "true" : undefined} onClick=${() => onFile(f.uri)}>${label(String(f.uri).slice(root(entry.uri).length) || f.uri, 300)}<//>
        ${f.size !== undefined && html` <span class="faint">${size(f.size)}</span>`} ${found(f.uri) && html`<${Verdict} check=${found(f.uri)} />`} ${found(f.uri)?.why && html`<div class="hint">${label(found(f.uri).why, 500)}</div>`}
      </li>`)}
    </ul>
    ${directories && html`<${Directory} connection=${connection} uri=${folder(entry.uri)} onFile=${onFile} />`}`;
}

function summary({ entry, files }) {
  if (!entry.ok) return "The entry itself fails.";
  const bad = files.filter((check) => !check.ok).length;
  return bad === 0 ? `All ${files.length} files fit.` : `${bad} of ${files.length} files fail.`;
}

function File({ connection, uri, file }) {
  const { data, error, loading } = useGet(`/connections/${connection.id}/skills/file`, { uri, file });
  if (!data) return error ? html`<${ErrorBox} error=${error} />` : loading && html`<${Spinner} />`;
  return html`<section aria-label="File">
    <h3>${label(file.slice(root(uri).length) || file, 300)} <${Verdict} check=${data.check} /></h3>
    <${Failed} check=${data.check} />
    ${data.check.ok && (data.text !== undefined ? html`<${Text} text=${data.text} mimeType=${/\.md$/i.test(file) ? "text/markdown" : undefined} />` : html`<${Binary} data=${data.blob ?? ""} name=${file} />`)}
  </section>`;
}

/** Directory shows what the server has below a URI now, which may be other than what the entry says. */
function Directory({ connection, uri, onFile }) {
  const [at, setAt] = useState(null);
  const { data, error, loading } = useGet(at === null ? null : `/connections/${connection.id}/skills/directory`, { uri: at });
  if (at === null) return html`<p><${Button} kind="link" onClick=${() => setAt(uri)}>Look at what the server has there now<//></p>`;
  const up = at === uri ? undefined : folder(at);
  return html`<section aria-label="Directory">
    <h3>Now in <code class="wrap">${label(at, 500)}</code></h3>
    <${ErrorBox} error=${error} /> ${loading && html`<${Spinner} />`} ${up && html`<p><${Button} kind="link" onClick=${() => setAt(up)}>Up<//></p>`} ${data?.entries.length === 0 && html`<${Empty} title="It is empty" />`}
    <ul class="plain files">
      ${(data?.entries ?? []).map((entry) => html`<li key=${entry.uri}>
        ${entry.mimeType === "inode/directory" ? html`<${Button} kind="link" onClick=${() => setAt(entry.uri)}>${label(lastPart(entry.uri), 300)}/<//>` : html`<${Button} kind="link" onClick=${() => onFile(entry.uri)}>${label(lastPart(entry.uri), 300)}<//> <a href=${href([connection.id, "resources"], { uri: entry.uri })}>as a resource</a>`}
      </li>`)}
    </ul>
    ${data?.more && html`<p>There is more than is shown.</p>`}
  </section>`;
}
