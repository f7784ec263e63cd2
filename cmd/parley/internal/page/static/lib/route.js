// Where the user is, in the fragment of the address: #/c1/tools/echo?x=1. A first part of the
// form c1 is a connection; otherwise it is a page of its own, such as #/compare.

import { useEffect, useState } from "./preact.js";

const listeners = new Set();
let last;
let lastHash;

/**
 * route returns where the user is.
 * @returns {{connection: string|null, view: string, rest: string[], params: Record<string, string>}}
 */
export function route() {
  if (lastHash !== location.hash) {
    lastHash = location.hash;
    last = read(lastHash);
  }
  return last;
}

function read(hash) {
  const [path, query = ""] = split(hash.replace(/^#/, ""), "?");
  const parts = path.split("/").filter(Boolean).map(decode);
  const connection = /^c\d+$/.test(parts[0] ?? "") ? parts.shift() : null;
  const view = parts.shift() ?? (connection ? "overview" : "home");
  return { connection, view, rest: parts, params: Object.fromEntries(new URLSearchParams(query)) };
}

function split(text, at) {
  const i = text.indexOf(at);
  return i < 0 ? [text] : [text.slice(0, i), text.slice(i + 1)];
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * href returns the address of a place: href(["c1", "tools", name], {x: 1}).
 * @param {string|string[]} path parts, which are encoded, or a path that is
 * @param {object} [params]
 */
export function href(path, params = {}) {
  const text = Array.isArray(path) ? path.filter((part) => part !== null && part !== undefined).map(encodeURIComponent).join("/") : path.replace(/^[#/]+/, "");
  const kept = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(kept).toString();
  return `#/${text}${query && `?${query}`}`;
}

/** go leads the user to a place; with replace, "back" does not lead here again. */
export function go(path, params, { replace = false } = {}) {
  const to = href(path, params);
  if (to === location.hash) return;
  if (!replace) {
    location.hash = to;
    return;
  }
  history.replaceState(null, "", to);
  changed();
}

function changed() {
  const now = route();
  for (const listener of listeners) listener(now);
}

addEventListener("hashchange", changed);

/** useRoute returns where the user is, and follows. */
export function useRoute() {
  const [now, set] = useState(route);
  useEffect(() => {
    set(route());
    listeners.add(set);
    return () => listeners.delete(set);
  }, []);
  return now;
}
