// A request for the answer of a model, which a person gives here.

import { Marked, label } from "../lib/content.js";
import { parse, stringify } from "../lib/json.js";
import { html, useState } from "../lib/preact.js";
import { ofRun, useKept } from "../lib/state.js";
import { Button, Facts, Field, Json, Select, TextArea, TextInput } from "../lib/ui.js";
import { Message } from "./prompts.js";
import { Refuse } from "./question_refuse.js";

const reasons = ["endTurn", "stopSequence", "maxTokens", "toolUse"];

/** result is what is sent for an answer that was typed. */
const result = (draft) => ({ role: "assistant", content: { type: "text", text: draft.text }, model: draft.model || "person", stopReason: draft.reason });

/** Sampling shows a conversation and takes what the model is to say. */
export function Sampling({ connection, question, answer }) {
  const [draft, setDraft] = useKept(ofRun(`question:${connection.id}:${question.id}:${question.asked}`), { text: "", model: "person", reason: "endTurn", raw: null });
  const [wrong, setWrong] = useState("");
  const set = (change) => setDraft((old) => ({ ...old, ...change }));
  const submit = (event) => {
    event.preventDefault();
    setWrong("");
    if (draft.raw === null) {
      answer.send({ action: "accept", result: result(draft) });
      return;
    }
    try {
      answer.send({ action: "accept", result: parse(draft.raw) });
    } catch (error) {
      setWrong(`This is not JSON: ${error.message}`);
    }
  };
  return html`<${Asked} connection=${connection} params=${question.params} />
    <form onSubmit=${submit} novalidate>
      ${draft.raw === null
        ? html`<${Field} label="What the model says"><${TextArea} rows=${5} value=${draft.text} onInput=${(text) => set({ text })} /><//>
            <div class="pair">
              <${Field} label="Model"><${TextInput} value=${draft.model} onInput=${(model) => set({ model })} /><//>
              <${Field} label="Why it stops"><${Select} value=${draft.reason} onChange=${(reason) => set({ reason })} options=${reasons} /><//>
            </div>`
        : html`<${Field} label="Result as JSON" error=${wrong || undefined} hint="As sampling/createMessage returns it; this is how the use of a tool is answered"><${TextArea} class="mono" rows=${10} value=${draft.raw} onInput=${(raw) => set({ raw })} /><//>`}
      <p class="actions">
        <${Button} type="submit" kind="primary" busy=${answer.busy}>Send<//> <${Refuse} answer=${answer} />
        <${Button} kind="link" onClick=${() => set({ raw: draft.raw === null ? stringify(result(draft), 2) : null })}>${draft.raw === null ? "Edit as JSON" : "Type a text"}<//>
      </p>
    </form>`;
}

function Asked({ connection, params }) {
  const messages = Array.isArray(params.messages) ? params.messages : [];
  const wishes = params.modelPreferences ?? {};
  const hints = Array.isArray(wishes.hints) ? wishes.hints.map((hint) => hint?.name).filter(Boolean) : [];
  const number = (value) => (value === undefined ? undefined : label(value, 40));
  return html`${params.systemPrompt !== undefined && html`<h3>System prompt</h3><p class="prose"><${Marked} text=${params.systemPrompt} lines /></p>`}
    <h3>Messages</h3>
    ${messages.slice(0, 100).map((message, i) => html`<${Message} key=${i} connection=${connection} message=${message} />`)} ${messages.length > 100 && html`<p>${messages.length - 100} more messages are not shown.</p>`}
    <${Facts}
      facts=${[
        ["Models it would like", hints.length > 0 && label(hints.join(", "), 500)],
        ["Cost matters", number(wishes.costPriority)],
        ["Speed matters", number(wishes.speedPriority)],
        ["Intelligence matters", number(wishes.intelligencePriority)],
        ["Most tokens", number(params.maxTokens)],
        ["Temperature", number(params.temperature)],
        ["Stops at", Array.isArray(params.stopSequences) && params.stopSequences.length > 0 && label(params.stopSequences.map((text) => JSON.stringify(text)).join(", "), 500)],
        ["Context", params.includeContext !== undefined && label(params.includeContext, 60)],
        ["Tools", Array.isArray(params.tools) && params.tools.length > 0 && html`<details><summary>${`${params.tools.length} may be used`}</summary><${Json} value=${params.tools} open=${1} label="Tools" /></details>`],
        ["Choice of tools", params.toolChoice !== undefined && label(params.toolChoice?.mode ?? "auto", 60)],
        ["Metadata", params.metadata !== undefined && html`<${Json} value=${params.metadata} open=${1} label="Metadata" />`],
      ]}
    />`;
}
