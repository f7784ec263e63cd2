// Rules that answer questions in place of a person.

import { api, save, useGet } from "../lib/api.js";
import { label } from "../lib/content.js";
import { parse, stringify } from "../lib/json.js";
import { html, useRef, useState } from "../lib/preact.js";
import { keep, ofRun, useKept } from "../lib/state.js";
import { Badge, Button, Check, Dialog, Empty, ErrorBox, Facts, Json, Notice, Spinner } from "../lib/ui.js";
import { RuleDialog } from "./rule.js";

/** Rules shows the rules of a connection. */
export function Rules({ connection }) {
  const path = `/connections/${connection.id}/rules`;
  const { data, error, reload } = useGet(path);
  const [failure, setFailure] = useState(undefined);
  const [before, setBefore] = useState(undefined); // what an import has replaced
  const draft = ofRun(`rules:${connection.id}:draft`);
  const [edited, setEdited] = useKept(ofRun(`rules:${connection.id}:edited`), null); // the number of a rule; -1 is a new one
  const close = () => {
    keep(draft, undefined);
    setEdited(null);
    setFailure(undefined);
  };
  const put = async (next) => {
    setFailure(undefined);
    try {
      await api.put(path, next);
      reload();
      return true;
    } catch (failed) {
      setFailure(failed);
      return false;
    }
  };
  if (!data) return error ? html`<${ErrorBox} error=${error} />` : html`<${Spinner} />`;
  const { on, rules } = data;
  const replace = (i, rule) => put({ on, rules: i < 0 || i >= rules.length ? [...rules, rule] : rules.map((old, at) => (at === i ? rule : old)) });
  const move = (i, by) => {
    const next = [...rules];
    [next[i], next[i + by]] = [next[i + by], next[i]];
    put({ on, rules: next });
  };
  // Imported rules are switched on by somebody who has looked at them.
  const add = (more) => put({ on: false, rules: [...rules, ...more] });
  const replaceAll = async (by) => {
    if (await put({ on: false, rules: by })) setBefore(data);
  };
  const takeBack = async () => {
    if (await put(before)) setBefore(undefined);
  };
  return html`<${Check} checked=${on} onChange=${(next) => put({ on: next, rules })} label="Answer questions by these rules" hint="The first rule that matches, and whose answer fits, answers at once. What no rule answers waits for you. Parley keeps the rules until it ends." />
    <${ErrorBox} error=${edited === null ? failure : undefined} />
    ${before && html`<${Notice} title=${`${before.rules.length} ${before.rules.length === 1 ? "rule was" : "rules were"} replaced.`}><${Button} onClick=${takeBack}>Take ${before.rules.length === 1 ? "it" : "them"} back<//><//>`}
    ${rules.length === 0 && html`<${Empty} title="There are no rules" />`}
    <ol class="rules plain">
      ${rules.map((rule, i) => html`<${Rule} key=${rule.name} rule=${rule} first=${i === 0} last=${i === rules.length - 1} onEdit=${() => setEdited(i)} onMove=${(by) => move(i, by)} onRemove=${() => put({ on, rules: rules.filter((_, at) => at !== i) })} />`)}
    </ol>
    <p class="actions">
      <${Button} kind="primary" onClick=${() => setEdited(-1)}>Add a rule<//>
      <${Button} disabled=${rules.length === 0} onClick=${() => save(new Blob([`${stringify(data, 2)}\n`], { type: "application/json" }), "parley-rules.json")}>Export<//>
      <${Import} count=${rules.length} onAdd=${add} onReplace=${replaceAll} onError=${setFailure} />
    </p>
    ${edited !== null && html`<${RuleDialog} rule=${rules[edited]} kept=${draft} error=${failure} onClose=${close} onSave=${async (rule) => (await replace(edited, rule)) && close()} />`}`;
}

function Rule({ rule, first, last, onEdit, onMove, onRemove }) {
  const which = [rule.kind && { form: "forms", url: "pages to visit", sampling: "requests for a model" }[rule.kind], rule.tool && `of ${label(rule.tool, 100)}`, rule.text && `with the text "${label(rule.text, 100)}"`];
  const given = rule.content ?? rule.result;
  return html`<li class="rule">
    <p><strong>${label(rule.name, 100)}</strong> <${Badge} kind=${rule.action === "accept" ? "good" : ""}>${rule.action}<//></p>
    <${Facts} facts=${[["Answers", which.filter(Boolean).join(" ") || "every question"], ["With", given !== undefined && html`<${Json} value=${given} open=${1} label="Answer" />`]]} />
    <p class="actions">
      <${Button} kind="plain" aria-label=${`Edit ${rule.name}`} onClick=${onEdit}>Edit<//> <${Button} kind="plain" aria-label=${`Move ${rule.name} up`} disabled=${first} onClick=${() => onMove(-1)}>Up<//>
      <${Button} kind="plain" aria-label=${`Move ${rule.name} down`} disabled=${last} onClick=${() => onMove(1)}>Down<//> <${Button} kind="danger" aria-label=${`Remove ${rule.name}`} onClick=${onRemove}>Remove<//>
    </p>
  </li>`;
}

/** rulesOf reads rules as Export writes them. */
function rulesOf(text) {
  const rules = parse(text)?.rules;
  if (!Array.isArray(rules) || rules.length === 0) throw new Error("a file of rules has a member “rules” with some in it, as Export writes it");
  return rules;
}

function Import({ count, onAdd, onReplace, onError }) {
  const input = useRef(null);
  const [found, setFound] = useState(undefined); // rules that are to be added, or to replace those that there are
  const read = async (event) => {
    const file = event.currentTarget.files[0];
    event.currentTarget.value = "";
    if (!file) return;
    onError(undefined);
    try {
      const rules = rulesOf(await file.text());
      if (count === 0) onAdd(rules);
      else setFound(rules);
    } catch (error) {
      onError({ message: `${file.name} has no rules`, hint: error.message });
    }
  };
  const act = (what) => () => {
    what(found);
    setFound(undefined);
  };
  const close = () => setFound(undefined);
  const choices = html`<${Button} onClick=${close}>Cancel<//><${Button} kind="danger" onClick=${act(onReplace)}>Replace<//><${Button} kind="primary" onClick=${act(onAdd)}>Add<//>`;
  return html`<${Button} onClick=${() => input.current.click()}>Import<//><input ref=${input} class="unseen" type="file" accept="application/json,.json" tabindex="-1" aria-label="File with rules" onChange=${read} />
    ${found && html`<${Dialog} title="Import rules" onClose=${close} actions=${choices}><p>The file has ${found.length} ${found.length === 1 ? "rule" : "rules"}, and you have ${count}. Add to yours, or replace yours? All are off then, until you switch them on.</p><//>`}`;
}
