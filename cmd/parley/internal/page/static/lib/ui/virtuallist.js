// A list of any length, of which only what can be seen is in the document.

import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "../preact.js";

const spare = 8; // rows above and below what can be seen

/**
 * VirtualList is a list box. The focus stays on the list, and its active row moves with the arrows,
 * Home, End, Page Up and Page Down; Enter, Space or a click picks it. Rows are text: what can be
 * pressed does not belong into them.
 * @param {{
 *   count: number, rowHeight: number, row: (i: number) => any, label: string,
 *   onPick?: (i: number) => void, onActive?: (i: number) => void,
 *   selected?: number, keyOf?: (i: number) => string|number, tail?: boolean, empty?: any,
 * }} props selected is the row that was picked; tail keeps the end in sight while it is there
 */
export function VirtualList({ count, rowHeight, row, label, onPick, onActive, selected = -1, keyOf, tail = false, empty = null }) {
  const ref = useRef(null);
  const id = useId();
  const atEnd = useRef(true);
  const [view, setView] = useState({ first: 0, rows: 30 });
  const [active, setActive] = useState(Math.max(selected, 0));
  const now = Math.min(active, count - 1);

  const measure = () => {
    const box = ref.current;
    if (!box) return;
    atEnd.current = box.scrollTop + box.clientHeight >= box.scrollHeight - rowHeight;
    const first = Math.max(0, Math.floor(box.scrollTop / rowHeight) - spare);
    const rows = Math.ceil(box.clientHeight / rowHeight) + 2 * spare;
    setView((v) => (v.first === first && v.rows === rows ? v : { first, rows }));
  };
  useEffect(() => {
    const watch = new ResizeObserver(measure);
    watch.observe(ref.current);
    return () => watch.disconnect();
  }, [rowHeight]);
  useLayoutEffect(() => {
    if (tail && atEnd.current) ref.current.scrollTop = count * rowHeight;
    measure();
  }, [count, tail, rowHeight]);
  const reveal = (i) => {
    const box = ref.current;
    if (i < 0 || !box) return;
    if (i * rowHeight < box.scrollTop) box.scrollTop = i * rowHeight;
    else if ((i + 1) * rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = (i + 1) * rowHeight - box.clientHeight;
  };
  useEffect(() => {
    if (selected < 0) return;
    setActive(selected);
    reveal(selected);
  }, [selected]);

  const move = (to) => {
    const next = Math.max(0, Math.min(count - 1, to));
    setActive(next);
    reveal(next);
    measure();
    onActive?.(next);
  };
  const keys = (event) => {
    if (count === 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(ref.current.clientHeight / rowHeight) - 1);
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: count - 1, PageDown: now + page, PageUp: now - page }[event.key];
    if (to !== undefined) move(to);
    else if (event.key === "Enter" || event.key === " ") onPick?.(now);
    else return;
    event.preventDefault();
  };
  const pick = (i) => {
    setActive(i);
    onPick?.(i);
  };

  const last = Math.min(count, view.first + view.rows);
  const visible = [];
  for (let i = Math.min(view.first, Math.max(0, count - view.rows)); i < last; i++) visible.push(i);
  if (count === 0 && empty) return html`<div class="virtual" ref=${ref}>${empty}</div>`;
  return html`<div class="virtual" ref=${ref} role="listbox" tabindex="0" aria-label=${label} aria-activedescendant=${visible.includes(now) ? `${id}-${now}` : undefined} onScroll=${measure} onKeyDown=${keys}>
    <div class="virtual-all" role="presentation" style=${{ height: `${count * rowHeight}px` }}>
      ${visible.map(
        (i) =>
          html`<div key=${keyOf ? keyOf(i) : i} id=${`${id}-${i}`} role="option" aria-selected=${i === selected ? "true" : "false"} aria-setsize=${count} aria-posinset=${i + 1} class=${`virtual-row ${i === now ? "active" : ""}`} style=${{ top: `${i * rowHeight}px`, height: `${rowHeight}px` }} onClick=${() => pick(i)}>${row(i)}</div>`,
      )}
    </div>
  </div>`;
}
