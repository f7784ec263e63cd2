// What a tab keeps over a reload. Secrets do not belong here: they stay in memory.

import { parse, stringify } from "./json.js";
import { useCallback, useState } from "./preact.js";

const prefix = "parley:";

/** kept returns what a tab keeps by this name, or initial. */
export function kept(key, initial) {
  try {
    const text = sessionStorage.getItem(prefix + key);
    return text === null ? initial : parse(text);
  } catch {
    return initial;
  }
}

/** keep keeps a value by this name; undefined forgets it. What is too large is not kept. */
export function keep(key, value) {
  try {
    if (value === undefined) sessionStorage.removeItem(prefix + key);
    else sessionStorage.setItem(prefix + key, stringify(value));
  } catch {
    sessionStorage.removeItem(prefix + key);
  }
}

/**
 * useKept is useState for what survives a reload of this tab.
 * @template T
 * @param {string} key names what is kept; it may change
 * @param {T} initial
 * @returns {[T, (next: T | ((old: T) => T)) => void]}
 */
export function useKept(key, initial) {
  const [state, setState] = useState(() => ({ key, value: kept(key, initial) }));
  const now = state.key === key ? state : { key, value: kept(key, initial) };
  const set = useCallback(
    (next) =>
      setState((old) => {
        const before = old.key === key ? old.value : kept(key, initial);
        const value = typeof next === "function" ? next(before) : next;
        keep(key, value);
        return { key, value };
      }),
    [key],
  );
  return [now.value, set];
}
