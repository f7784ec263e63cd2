// What a judge says of the definitions of a server.

import { SafeLink, label } from "../../lib/content.js";
import { html, useMemo } from "../../lib/preact.js";
import { go } from "../../lib/route.js";
import { ofRun, useKept } from "../../lib/state.js";
import { Badge, Empty, Facts, Notice, SearchBox, Select, Split, VirtualList } from "../../lib/ui.js";

const severities = { error: "error", warning: "warning", note: "" };
const order = Object.keys(severities);

/** Findings is a report about definitions. */
export function Findings({ report, judgement, connection, route }) {
  const [search, setSearch] = useKept(ofRun(`checks:${judgement.id}:search`), "");
  const [severity, setSeverity] = useKept(ofRun(`checks:${judgement.id}:severity`), "");
  const all = useMemo(() => (report.findings ?? []).map((finding, i) => ({ ...finding, key: String(i) })).sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity)), [report]);
  const shown = useMemo(() => all.filter((finding) => fits(finding, search.toLowerCase(), severity)), [all, search, severity]);
  const picked = all.find(({ key }) => key === route.params.row);
  const list = html`<div class="row">
      <${SearchBox} label="Search the findings" value=${search} onInput=${setSearch} />
      <${Select} aria-label="Severity" value=${severity} onChange=${setSeverity} options=${[{ value: "", label: "every severity" }, ...order.map((name) => ({ value: name, label: `${name} (${all.filter((finding) => finding.severity === name).length})` }))]} />
    </div>
    <${VirtualList} label="Findings" count=${shown.length} rowHeight=${46} row=${(i) => html`<${Row} finding=${shown[i]} />`} keyOf=${(i) => shown[i].key} selected=${picked ? shown.indexOf(picked) : -1}
      onPick=${(i) => go([connection.id, "checks"], { j: judgement.id, row: shown[i].key })} empty=${html`<${Empty} title=${all.length === 0 ? "Nothing was found" : "No finding matches"} />`} />`;
  return html`<${Summary} report=${report} /> <${Split} label="Findings" detailLabel="Finding" list=${list} detail=${picked ? html`<${Detail} finding=${picked} />` : html`<${Costs} report=${report} />`} />`;
}

const fits = (finding, text, severity) => (severity === "" || finding.severity === severity) && (text === "" || [finding.rule, finding.name, finding.text].some((part) => part?.toLowerCase().includes(text)));

function Summary({ report }) {
  const counts = [["errors", report.errors], ["warnings", report.warnings], ["notes", report.notes]].map(([name, count]) => `${count} ${name}`).join(", ");
  return html`<${Notice} kind=${report.ok ? "good" : "error"} title=${counts}>${(report.servers ?? []).map((s, i) => html`<p key=${i}>${s.tools} tools, ${s.prompts} prompts, ${s.resources} resources, ${s.templates} templates; the tools cost about <span class="number">${s.tokens}</span> tokens.</p>`)}
    ${report.omitted > 0 && html`<p>${report.omitted} more findings are left out.</p>`}<//>`;
}

function Row({ finding }) {
  return html`<span class="two-lines"><span class="first"><${Badge} kind=${severities[finding.severity]}>${finding.severity}<//> <code>${finding.rule}</code> ${label(finding.name ?? "", 100)}</span><span class="second">${label(finding.text, 300)}</span></span>`;
}

function Detail({ finding }) {
  const web = /^https:/.test(finding.source);
  return html`<h2><${Badge} kind=${severities[finding.severity]}>${finding.severity}<//> ${finding.rule}</h2>
    <p class="prose">${label(finding.text, 4000)}</p>
    <${Facts}
      facts=${[
        ["Of", `${finding.kind} ${label(finding.name ?? "", 300)}`],
        ["At", html`<code>${label(finding.pointer, 500)}</code>`],
        ["Also at", finding.more > 0 && `${finding.more} more places of it`],
        ["What to do", finding.mend],
        ["Who wants it", web ? html`<${SafeLink} href=${finding.source}>${finding.source}<//>` : finding.source],
        ["Since", finding.date],
      ]}
    />`;
}

/** Costs is what the tools cost a model, the dearest first. */
function Costs({ report }) {
  const costs = (report.servers ?? []).flatMap((server) => server.costs ?? []);
  if (costs.length === 0) return html`<${Empty} title="Pick a finding" />`;
  return html`<table>
    <caption>What the dearest tools cost, in tokens, estimated</caption>
    <thead><tr><th scope="col">Tool</th><th scope="col">Tokens</th></tr></thead>
    <tbody>${costs.slice(0, 50).map(({ name, tokens }) => html`<tr key=${name}><th scope="row">${label(name, 100)}</th><td class="number">${tokens}</td></tr>`)}</tbody>
  </table>`;
}
