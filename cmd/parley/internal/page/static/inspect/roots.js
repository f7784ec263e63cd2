// The folders in which a server may work.

import { api, useGet } from "../lib/api.js";
import { html, useState } from "../lib/preact.js";
import { ofRun, useKept } from "../lib/state.js";
import { Button, Check, Empty, ErrorBox, Field, Notice, Spinner, TextInput } from "../lib/ui.js";
import { sameRoot, uriOf } from "./root-uri.js";

/** View is the view of roots. */
export function View({ connection }) {
  const path = `/connections/${connection.id}/roots`;
  const { data, error, reload } = useGet(path, {}, { connection: (event) => event.id === connection.id });
  const [failure, setFailure] = useState(undefined);
  const act = async (change) => {
    setFailure(undefined);
    try {
      await change();
      reload();
      return true;
    } catch (failed) {
      setFailure(failed);
      return false;
    }
  };
  const { declare = false, declared = false, deprecated = false, roots = [] } = data ?? {};
  const put = (change) => act(() => api.put(path, { declare, roots, ...change }));
  const reconnect = () => act(() => api.post(`/connections/${connection.id}/reconnect`));
  return html`<h1>Roots</h1>
    <p>Folders that the server may ask for, and is to keep to. It is told when they change, or asks again, depending on the revision.</p>
    ${deprecated && html`<p class="hint">This revision of the protocol deprecates roots: tools are to take folders as arguments, or servers to be configured.</p>`}
    ${!data && !error && html`<${Spinner} />`} <${ErrorBox} error=${failure ?? error} />
    ${data && html`<${Check} checked=${declare} onChange=${(next) => put({ declare: next })} label="Declare roots to the server" hint="A server that gets an empty list may take it for: nowhere" />`}
    ${data && declare !== declared && html`<${Notice} title="This holds from the next connecting on."><${Button} onClick=${reconnect}>Reconnect now<//><//>`}
    ${data && roots.length === 0 && html`<${Empty} title="There are no roots" />`}
    <ul class="plain roots">
      ${roots.map((root, i) => html`<${Root} key=${`${root.uri}\n${root.name ?? ""}`} root=${root} onChange=${(next) => put({ roots: roots.map((old, at) => (at === i ? next : old)) })} onRemove=${() => put({ roots: roots.filter((_, at) => at !== i) })} />`)}
    </ul>
    <${Add} connection=${connection} roots=${roots} disabled=${!data} onAdd=${(root) => put({ declare: true, roots: [...roots, root] })} />`;
}

function Root({ root, onChange, onRemove }) {
  const [name, setName] = useState(root.name ?? "");
  const changed = name !== (root.name ?? "");
  return html`<li class="root">
    <code class="wrap">${root.uri}</code>
    <${Field} label="Name"><${TextInput} value=${name} onInput=${setName} aria-label=${`Name of ${root.uri}`} /><//>
    <span class="actions">${changed && html`<${Button} kind="primary" onClick=${() => onChange({ ...root, name: name || undefined })}>Save<//>`} <${Button} kind="danger" aria-label=${`Remove ${root.uri}`} onClick=${onRemove}>Remove<//></span>
  </li>`;
}

function Add({ connection, roots, disabled, onAdd }) {
  const [draft, setDraft] = useKept(ofRun(`roots:${connection.id}`), { path: "", name: "" });
  const [wrong, setWrong] = useState("");
  const submit = async (event) => {
    event.preventDefault();
    const { path, name } = draft;
    const { uri, wrong: why } = uriOf(path.trim());
    const problem = why ?? (roots.some((root) => sameRoot(root.uri, uri)) ? "It is among the roots already." : "");
    setWrong(problem);
    if (!problem && (await onAdd({ uri, name: name || undefined }))) setDraft({ path: "", name: "" });
  };
  return html`<form class="add-root" onSubmit=${submit}>
    <${Field} label="Folder" hint="A whole path such as /home/me/project, or a file URI" error=${wrong}><${TextInput} value=${draft.path} onInput=${(path) => setDraft((old) => ({ ...old, path }))} /><//>
    <${Field} label="Its name"><${TextInput} value=${draft.name} onInput=${(name) => setDraft((old) => ({ ...old, name }))} /><//>
    <${Button} type="submit" kind="primary" disabled=${disabled || !draft.path.trim()}>Add<//>
  </form>`;
}
