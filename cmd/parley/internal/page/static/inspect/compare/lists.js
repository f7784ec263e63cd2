// The lists of two servers: what only one has, and what is not the same.

import { useGet } from "../../lib/api.js";
import { label } from "../../lib/content.js";
import { diff, match } from "../../lib/diff.js";
import { html, useMemo } from "../../lib/preact.js";
import { useKept } from "../../lib/state.js";
import { Badge, Check, Empty, ErrorBox, Spinner, Split, VirtualList } from "../../lib/ui.js";
import { Places } from "./places.js";

const colours = { added: "good", removed: "error", changed: "warning", same: "" };
const words = { added: "only right", removed: "only left", changed: "changed", same: "same" };
const keyOf = (item) => [item?.name, item?.uri, item?.uriTemplate].find((text) => typeof text === "string") ?? "";

/** Lists compares one list of two connections. */
export function Lists({ kind, left, right }) {
  const a = useList(left, kind);
  const b = useList(right, kind);
  const [all, setAll] = useKept("compare:same", false);
  const [picked, pick] = useKept(`compare:picked:${kind}`, "");
  const pairs = useMemo(() => match(a.data?.items ?? [], b.data?.items ?? [], keyOf), [a.data, b.data]);
  if (!a.data || !b.data) return a.error ?? b.error ? html`<${ErrorBox} error=${a.error ?? b.error} />` : html`<${Spinner} />`;
  const shown = pairs.filter(({ state }) => all || state !== "same");
  const at = shown.findIndex((pair) => pair.key === picked);
  const list = html`<p class="row"><span>${summary(pairs)}</span> <${Check} checked=${all} onChange=${setAll} label="Show what is the same" /></p>
    <${VirtualList} label="Differences" count=${shown.length} rowHeight=${32} row=${(i) => html`<span class="compare-row"><${Badge} kind=${colours[shown[i].state]}>${words[shown[i].state]}<//> ${label(shown[i].key, 200)}</span>`} keyOf=${(i) => `${i}:${shown[i].key}`} selected=${at}
      onPick=${(i) => pick(shown[i].key)} empty=${html`<${Empty} title=${pairs.length === 0 ? "Neither lists anything" : "There is no difference"} />`} />`;
  return html`<${ErrorBox} error=${a.data.error ?? b.data.error} /> <${Split} label="Items" detailLabel="Difference" list=${list} detail=${at < 0 ? html`<${Empty} title="Pick an item" />` : html`<${Pair} pair=${shown[at]} />`} />`;
}

/** useList reads a list; what a server does not offer is empty. */
function useList(connection, kind) {
  const feature = kind === "templates" ? "resources" : kind;
  const offered = connection.features.includes(feature);
  const got = useGet(offered ? `/connections/${connection.id}/lists/${kind}` : null, {}, { list: (event) => event.connection === connection.id });
  return offered ? got : { data: none };
}

const none = { items: [] };

const summary = (pairs) =>
  Object.entries(words)
    .map(([state, word]) => [pairs.filter((pair) => pair.state === state).length, word])
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(", ");

function Pair({ pair }) {
  return html`<h2>${label(pair.key, 300)}</h2>
    <${Places} places=${diff(pair.left, pair.right)} caption=${`What differs in ${label(pair.key, 100)}`} />`;
}
