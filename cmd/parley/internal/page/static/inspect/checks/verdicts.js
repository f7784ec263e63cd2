// What a judge says of how a server speaks: row by row of the specification.

import { Cut, SafeLink, label } from "../../lib/content.js";
import { html, useMemo } from "../../lib/preact.js";
import { go } from "../../lib/route.js";
import { ofRun, useKept } from "../../lib/state.js";
import { Badge, Empty, Facts, Notice, SearchBox, Select, Split, VirtualList } from "../../lib/ui.js";

const outcomes = { fail: "error", warn: "warning", "not verified": "", "not applicable": "", pass: "good" };
const order = Object.keys(outcomes);

/** Verdicts is a report about a server or its authorization. */
export function Verdicts({ report, judgement, connection, route }) {
  const [search, setSearch] = useKept(ofRun(`checks:${judgement.id}:search`), "");
  const [outcome, setOutcome] = useKept(ofRun(`checks:${judgement.id}:outcome`), "");
  const rows = useMemo(() => rowsOf(report), [report]);
  const shown = useMemo(() => rows.filter((row) => fits(row, search.toLowerCase(), outcome)), [rows, search, outcome]);
  const picked = rows.find(({ key }) => key === route.params.row);
  const list = html`<div class="row">
      <${SearchBox} label="Search the rows" value=${search} onInput=${setSearch} />
      <${Select} aria-label="Outcome" value=${outcome} onChange=${setOutcome} options=${[{ value: "", label: "every outcome" }, ...order.map((name) => ({ value: name, label: `${name} (${rows.filter((row) => row.outcome === name).length})` }))]} />
    </div>
    <${VirtualList} label="Rows of the specification" count=${shown.length} rowHeight=${46} row=${(i) => html`<${Row} row=${shown[i]} several=${report.runs.length > 1} />`} keyOf=${(i) => shown[i].key} selected=${picked ? shown.indexOf(picked) : -1}
      onPick=${(i) => go([connection.id, "checks"], { j: judgement.id, row: shown[i].key })} empty=${html`<${Empty} title="No row matches" />`} />`;
  return html`<${Scores} report=${report} /> <${Split} label="Rows" detailLabel="Row" list=${list} detail=${picked ? html`<${Detail} row=${picked} />` : html`<${Empty} title="Pick a row">What failed comes first.<//>`} />`;
}

/** rowsOf returns the verdicts of all runs, what failed first. */
function rowsOf(report) {
  const rows = report.runs.flatMap((run, i) => run.verdicts.map((verdict) => ({ ...verdict, run, key: `${i}:${verdict.row}` })));
  return rows.sort((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome));
}

const fits = (row, text, outcome) => (outcome === "" || row.outcome === outcome) && (text === "" || [row.row, row.text, row.why, row.citation, row.run.revision].some((part) => part?.toLowerCase().includes(text)));

function Scores({ report }) {
  return html`<div class="scroll scores">
      <table>
        <caption class="unseen">The score of each run</caption>
        <thead><tr><th scope="col">Revision</th><th scope="col">Transport</th><th scope="col">Score</th><th scope="col">MUST</th><th scope="col">SHOULD</th><th scope="col">Not verified</th></tr></thead>
        <tbody>${report.runs.map((run, i) => html`<${Score} key=${i} run=${run} />`)}</tbody>
      </table>
    </div>
    ${report.partial && html`<${Notice} kind="warning" title="The check did not get to its end">${label(report.partial, 500)}<//>`}
    ${report.notes?.length > 0 && html`<details class="notes"><summary>${report.notes.length === 1 ? "A remark" : `${report.notes.length} remarks`}</summary><ul>${report.notes.map((note, i) => html`<li key=${i}>${label(note, 1000)}</li>`)}</ul></details>`}`;
}

function Score({ run: { revision, transport, score } }) {
  const failed = (count) => html`<span class="number">${count.passed} passed</span>${count.failed > 0 && html`, <strong class="number">${count.failed} failed</strong>`}`;
  return html`<tr>
    <th scope="row">${revision}</th><td>${transport}</td><td class="number">${score.points.toFixed(1)}${score.capped && html` <${Badge} kind="warning" title="A MUST that failed keeps the score at 94">capped<//>`}</td>
    <td>${failed(score.must)}</td><td>${failed(score.should)}</td><td class="number">${score.must.unverified + score.should.unverified}</td>
  </tr>`;
}

function Row({ row, several }) {
  return html`<span class="two-lines"><span class="first"><${Badge} kind=${outcomes[row.outcome]}>${row.outcome}<//> <code>${row.row}</code>${several && html` <span class="faint">${row.run.revision}</span>`}</span><span class="second">${label(row.why || row.text, 300)}</span></span>`;
}

/** Detail is one row: what the specification says, what was seen. */
function Detail({ row }) {
  return html`<h2><${Badge} kind=${outcomes[row.outcome]}>${row.outcome}<//> ${row.row}</h2>
    <blockquote>${row.text}</blockquote>
    <${Facts}
      facts=${[
        ["Level", row.level],
        ["Stands in", row.url ? html`<${SafeLink} href=${row.url}>${row.citation}<//>` : row.citation],
        ["Run", `${row.run.revision} over ${row.run.transport}`],
        ["Why", label(row.why ?? "", 4000)],
        ["Because of", row.because && html`<code>${row.because}</code>`],
        ["What to do", label(row.mend ?? "", 2000)],
        ["Accepted", label(row.known ?? "", 1000)],
        ["Probe", row.probe && html`<code>${row.probe}</code>`],
      ]}
    />
    ${row.evidence?.length > 0 && html`<h3>What was seen</h3>${row.evidence.map((seen) => html`<${Seen} key=${seen.number} seen=${seen} />`)}`}`;
}

function Seen({ seen }) {
  return html`<article class="seen">
    <p class="faint">${seen.sent ? "sent" : "came"} after <span class="number">${seen.atMs} ms</span>${seen.pointer && html`, wrong at <code>${label(seen.pointer, 300)}</code>`}</p>
    ${seen.head && html`<${Cut} text=${seen.head} />`} <${Cut} text=${seen.text} />
    ${seen.cut > 0 && html`<p class="faint">${seen.cut} more bytes are left out.</p>`}
  </article>`;
}
