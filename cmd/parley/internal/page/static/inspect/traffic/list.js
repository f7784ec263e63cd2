// The list of frames: of any number, only those in sight are asked for.

import { api } from "../../lib/api.js";
import { label } from "../../lib/content.js";
import { html, useEffect, useRef, useState } from "../../lib/preact.js";
import { Badge, Duration, Spinner, Time, VirtualList } from "../../lib/ui.js";
import { Mark } from "./mark.js";
import { marked } from "./numbers.js";

const block = 100; // rows that are asked for at a time
const mostBlocks = 40; // that are kept

export const colours = { error: "error", malformed: "error", dropped: "warning", request: "accent", result: "good" };

/**
 * FrameList is the list of frames that were found, with marks between them.
 * @param {{path: string, found?: {runs: [number, number][]}, marks?: Map<number, object>, tail: boolean, picked?: number, onPick: (n: number) => void, empty: any}} props
 * marks are by numbers that are no frames': half a frame before the one that they stand before
 */
export function FrameList({ path, found, marks = new Map(), tail, picked, onPick, empty }) {
  const rows = useRows(path);
  if (!found) return html`<${Spinner} label="Reading the traffic" />`;
  const index = indexOf(marked(found.runs, [...marks.keys()]));
  const row = (i) => {
    const mark = marks.get(index.at(i));
    return mark ? html`<${Mark} mark=${mark} />` : html`<${Row} n=${index.at(i)} row=${rows.at(index, i)} />`;
  };
  return html`<${VirtualList} label="Frames" count=${index.count} rowHeight=${28} tail=${tail} row=${row} keyOf=${(i) => index.at(i)} selected=${picked === undefined ? -1 : index.of(picked)} onPick=${(i) => onPick(index.at(i))} empty=${empty} />`;
}

/** indexOf makes runs of numbers a list: at returns the i-th number, of its place or -1. */
export function indexOf(runs) {
  const starts = [];
  let count = 0;
  for (const [first, last] of runs) {
    starts.push(count);
    count += last - first + 1;
  }
  const find = (fits) => {
    let low = 0;
    let high = runs.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (fits(middle)) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  return {
    count,
    at(i) {
      const run = find((k) => starts[k] <= i);
      return runs[run][0] + i - starts[run];
    },
    of(n) {
      if (count === 0) return -1;
      const run = find((k) => runs[k][0] <= n);
      return runs[run][0] <= n && n <= runs[run][1] ? starts[run] + n - runs[run][0] : -1;
    },
  };
}

/** useRows fetches rows in blocks, the first time that they are in sight. What is once recorded stays as it is. */
export function useRows(path) {
  const kept = useRef(new Map());
  const asked = useRef(new Set()); // numbers
  const alive = useRef(true);
  const [, changed] = useState(0);
  useEffect(
    () => () => {
      alive.current = false;
    },
    [],
  );
  const forget = () => {
    for (const n of kept.current.keys()) {
      if (kept.current.size <= (block * mostBlocks) / 2) break;
      kept.current.delete(n);
    }
    asked.current.clear();
  };
  const fetchRows = async (numbers) => {
    try {
      const { frames } = await api.get(`${path}/frames`, { n: numbers.join(","), limit: block });
      for (const frame of frames) kept.current.set(frame.n, frame);
      if (kept.current.size > block * mostBlocks) forget();
      if (alive.current) changed((count) => count + 1);
    } catch {
      for (const n of numbers) asked.current.delete(n); // what is still in sight then is asked for again
    }
  };
  const isNew = (n) => Number.isInteger(n) && !kept.current.has(n) && !asked.current.has(n);
  const ask = (index, from) => {
    const numbers = Array.from({ length: Math.min(block, index.count - from) }, (_, k) => index.at(from + k)).filter(isNew);
    for (const n of numbers) asked.current.add(n);
    queueMicrotask(() => fetchRows(numbers));
  };
  return {
    at(index, i) {
      const n = index.at(i);
      if (isNew(n)) ask(index, Math.floor(i / block) * block);
      return kept.current.get(n);
    },
  };
}

function Row({ n, row }) {
  if (!row) return html`<span class="frame-row"><span class="faint number n">${n}</span></span>`;
  const sent = row.direction === "sent";
  return html`<span class="frame-row">
    <span class="faint number n">${row.n}</span> <${Time} at=${row.time} /> <span class=${`way ${row.direction}`} aria-label=${row.direction}>${sent ? "→" : "←"}</span>
    <${Badge} kind=${colours[row.kind]}>${row.kind}<//>${row.replayed && html` <${Badge} kind="warning">replayed<//>`} <span class="what">${label(row.method ?? "", 100)} <span class="faint">${label(row.subject ?? row.dropped ?? "", 100)}</span></span>
    ${row.status > 0 && html`<span class="number">${row.status}</span>`} ${row.took !== undefined && html`<${Duration} ms=${row.took} />`} <span class="faint number size">${row.size}</span>
  </span>`;
}
