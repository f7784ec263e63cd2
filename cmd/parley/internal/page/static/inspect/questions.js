// What servers ask: waiting, answered, and the rules that answer by themselves.

import { useGet } from "../lib/api.js";
import { html } from "../lib/preact.js";
import { go } from "../lib/route.js";
import { Badge, Empty, ErrorBox, Spinner, Tabs } from "../lib/ui.js";
import { Answered, Question } from "./question.js";
import { Rules } from "./rules.js";

/** View is the view of questions. */
export function View({ connection, route }) {
  const tab = route.params.tab === "rules" ? "rules" : "questions";
  const { data, error } = useGet(`/connections/${connection.id}/questions`, {}, { question: (event) => event.connection === connection.id });
  const questions = data?.questions ?? [];
  const waiting = questions.filter((question) => question.state === "waiting").reverse(); // the oldest first
  const over = questions.filter((question) => question.state !== "waiting");
  const tabs = [
    { id: "questions", title: html`Questions ${waiting.length > 0 && html`<${Badge} kind="warning">${waiting.length}<//>`}` },
    { id: "rules", title: "Rules" },
  ];
  return html`<h1>Questions</h1>
    <${Tabs} label="Questions and rules" tabs=${tabs} current=${tab} onChange=${(id) => go([connection.id, "questions"], id === "rules" ? { tab: id } : {})}>
      ${tab === "rules" && html`<${Rules} connection=${connection} />`}
      ${tab === "questions" &&
      html`<${ErrorBox} error=${error} />
        ${!data && !error && html`<${Spinner} />`}
        ${data && waiting.length === 0 && html`<${Empty} title="Nothing waits for an answer">When the server asks for input, or for a model, it is shown here.<//>`}
        ${waiting.map((question) => html`<${Question} key=${question.id} connection=${connection} question=${question} samplingDeprecated=${data.samplingDeprecated} />`)}
        ${over.length > 0 && html`<h2>Before</h2><ol class="plain answered">${over.map((question) => html`<${Answered} key=${question.id} connection=${connection} question=${question} />`)}</ol>`}`}
    <//>`;
}
