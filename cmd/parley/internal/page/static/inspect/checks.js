// Checks: the server is judged, and the report is read here.

import { api, useGet } from "../lib/api.js";
import { html, useState } from "../lib/preact.js";
import { go } from "../lib/route.js";
import { ofRun, useKept } from "../lib/state.js";
import { Badge, Button, Empty, ErrorBox, Menu, Notice, Select, Spinner, Time, timeOf } from "../lib/ui.js";
import { Findings } from "./checks/findings.js";
import { Start, kinds } from "./checks/start.js";
import { Verdicts } from "./checks/verdicts.js";

const ofStates = { running: "accent", done: "good", cancelled: "warning", failed: "error" };

/** View is the view of checks. */
export function View({ connection, route }) {
  const { data, error, reload } = useGet("/judgements", {}, { judge: (event) => event.connection === connection.id });
  const [asking, ask] = useKept(ofRun(`checks:${connection.id}:asking`), false);
  const mine = (data?.judgements ?? []).filter(({ how }) => how.connection === connection.id);
  const shown = mine.find(({ id }) => id === route.params.j) ?? mine[0];
  const started = (judgement) => {
    ask(false);
    reload();
    go([connection.id, "checks"], { j: judgement.id });
  };
  if (!data) return error ? html`<${ErrorBox} error=${error} />` : html`<${Spinner} />`;
  return html`<div class="checks">
    <h1>Checks</h1>
    <div class="row">
      ${mine.length > 0 && html`<${Select} aria-label="Judgement" value=${shown.id} options=${mine.map(option)} onChange=${(j) => go([connection.id, "checks"], { j })} />`}
      ${shown && html`<${Badge} kind=${ofStates[shown.state]}>${shown.state}<//> <span class="faint"><${Time} at=${shown.started} /></span>`}
      <${Button} kind=${shown ? "" : "primary"} aria-expanded=${asking || !shown ? "true" : "false"} onClick=${() => ask(!asking)}>Judge this server…<//>
      ${shown?.formats && html`<${Export} judgement=${shown} />`}
    </div>
    <${ErrorBox} error=${error} /> ${(asking || !shown) && html`<${Start} connection=${connection} onStarted=${started} onClose=${shown && (() => ask(false))} />`}
    ${shown && html`<${Judgement} key=${shown.id} judgement=${shown} connection=${connection} route=${route} onEnd=${reload} />`}
  </div>`;
}

const option = ({ id, how, started }) => ({ value: id, label: `${kinds[how.kind].title}, ${timeOf(started)}` });

function Export({ judgement: { id, formats } }) {
  const items = formats.map((format) => ({ label: format, onPick: () => api.download(`/judgements/${id}/report/${format}`, `report-${id}.${format === "markdown" ? "md" : format}`) }));
  return html`<${Menu} label="Export the report" items=${items} />`;
}

/** Judgement is one judgement: under way, or with its report. */
function Judgement({ judgement, connection, route, onEnd }) {
  const done = judgement.state === "done";
  const report = useGet(done ? `/judgements/${judgement.id}/report/json` : null);
  if (judgement.state === "running") return html`<${Progress} judgement=${judgement} onCancel=${onEnd} />`;
  if (judgement.state === "cancelled") return html`<${Empty} title="This judgement was cancelled before anything was seen" />`;
  if (judgement.error) return html`<${ErrorBox} error=${judgement.error} />`;
  if (report.error) return html`<${ErrorBox} error=${report.error} />`;
  if (!report.data) return html`<${Spinner} label="Reading the report" />`;
  const Report = judgement.how.kind === "definitions" ? Findings : Verdicts;
  return html`<${Report} report=${report.data} judgement=${judgement} connection=${connection} route=${route} />`;
}

function Progress({ judgement: { id, progress }, onCancel }) {
  const [failed, fail] = useState(undefined);
  const cancel = () => api.del(`/judgements/${id}`).then(onCancel, fail);
  const { what, done, total } = progress;
  return html`<${Notice} title="The server is being judged">
    <p><progress max=${total || 1} value=${done} aria-label="Progress"></progress> ${total > 0 && html`<span class="number">${done} of ${total}</span>`} ${what}</p>
    <${ErrorBox} error=${failed} /> <${Button} onClick=${cancel}>Cancel<//>
  <//>`;
}
