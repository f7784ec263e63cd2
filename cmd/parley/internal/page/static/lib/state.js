// What a tab keeps over a reload. Secrets do not belong here: they stay in memory.

import { parse, stringify } from "./json.js";
import { useCallback, useState } from "./preact.js";

const prefix = "parley:";

// What belongs to a run of the program, such as connections and calls, is numbered from one on in
// each; another run at the same address must not find what was kept for this one.
let run = "";

/** begin says which run this is, and forgets what was kept for others. */
export function begin(id) {
  if (id === run) return;
  run = id;
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(`${prefix}run:`) && !key.startsWith(`${prefix}run:${run}:`)) sessionStorage.removeItem(key);
  }
}

/** ofRun is the name of what is kept for this run of the program alone. */
export const ofRun = (key) => `run:${run}:${key}`;

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
