// One rule, in a dialog.

import { parse, stringify } from "../lib/json.js";
import { html, useState } from "../lib/preact.js";
import { useKept } from "../lib/state.js";
import { Button, Dialog, ErrorBox, Field, Select, TextArea, TextInput } from "../lib/ui.js";

const kinds = [
  { value: "form", label: "Forms" },
  { value: "url", label: "Pages to visit" },
  { value: "sampling", label: "Requests for a model" },
  { value: "", label: "All questions" },
];
const actions = [
  { value: "accept", label: "Accept" },
  { value: "decline", label: "Decline" },
  { value: "cancel", label: "Cancel" },
];
const member = { form: "content", sampling: "result" };
const examples = {
  form: "{}",
  sampling: stringify({ role: "assistant", content: { type: "text", text: "An answer" }, model: "sample", stopReason: "endTurn" }, 2),
};
const hints = {
  form: "An object with the fields of the form; what it lacks gets the form's defaults. If it does not fit, the question waits for you.",
  sampling: "A result as sampling/createMessage returns it",
};

/** draftOf is what the dialog begins with; given is the text of the answer, if there is one. */
function draftOf(rule) {
  const { content, result, ...rest } = rule ?? {};
  const answer = content ?? result;
  return { name: "", kind: "form", tool: "", text: "", action: "accept", ...rest, given: answer ? stringify(answer, 2) : undefined };
}

/** RuleDialog edits a rule; without one it makes a new one. What is typed is kept under kept until the dialog is closed. */
export function RuleDialog({ rule, kept, error, onClose, onSave }) {
  const [draft, setDraft] = useKept(kept, draftOf(rule));
  const { given } = draft;
  const [wrong, setWrong] = useState("");
  const set = (change) => setDraft((old) => ({ ...old, ...change }));
  const wanted = draft.action === "accept" ? member[draft.kind] : undefined;
  const text = given ?? examples[draft.kind];
  const submit = (event) => {
    event.preventDefault();
    setWrong("");
    const { name, kind, tool, action, text: has } = draft;
    const next = { name, kind, tool, text: has, action };
    try {
      if (wanted) next[wanted] = parse(text);
      onSave(next);
    } catch (failed) {
      setWrong(`This is not JSON: ${failed.message}`);
    }
  };
  const at = (name) => (error?.field?.endsWith(`].${name}`) ? error.message : undefined);
  return html`<${Dialog} title=${rule ? "Edit the rule" : "Add a rule"} onClose=${onClose}>
    <form onSubmit=${submit} novalidate>
      <${Field} label="Name" required error=${at("name")}><${TextInput} value=${draft.name} onInput=${(name) => set({ name })} /><//>
      <${Field} label="Questions" error=${at("kind")}><${Select} value=${draft.kind} onChange=${(kind) => set({ kind, given: undefined })} options=${kinds} /><//>
      <${Field} label="Of the tool" hint="Or of the prompt, or of the resource by its URI; empty for all"><${TextInput} value=${draft.tool} onInput=${(tool) => set({ tool })} /><//>
      <${Field} label="With the text" hint="Anywhere in the message, in capitals or not; empty for all"><${TextInput} value=${draft.text} onInput=${(has) => set({ text: has })} /><//>
      <${Field} label="Answer" error=${at("action")}><${Select} value=${draft.action} onChange=${(action) => set({ action })} options=${actions} /><//>
      ${wanted && html`<${Field} label=${wanted === "content" ? "Content" : "Result"} hint=${hints[draft.kind]} error=${wrong || at(wanted)}><${TextArea} class="mono" rows=${6} value=${text} onInput=${(given) => set({ given })} /><//>`}
      <${ErrorBox} error=${error} />
      <p class="actions"><${Button} type="submit" kind="primary">Save<//> <${Button} onClick=${onClose}>Cancel<//></p>
    </form>
  <//>`;
}
