// What differs between two values of JSON.

import { Exact, isNumber } from "./json.js";

const plain = (value) => value === null || typeof value !== "object" || value instanceof Exact;
const isObject = (value) => !plain(value) && !Array.isArray(value);
const escape = (name) => name.replaceAll("~", "~0").replaceAll("/", "~1");

/**
 * diff returns where two values of JSON differ, each place by its JSON pointer.
 * @param {any} left undefined is nothing
 * @param {any} right
 * @param {{most?: number}} [options] most bounds the places
 * @returns {{pointer: string, left: any, right: any}[]}
 */
export function diff(left, right, { most = 1000 } = {}) {
  const places = [];
  const walk = (a, b, pointer) => {
    if (places.length >= most || same(a, b)) return;
    if (Array.isArray(a) && Array.isArray(b)) {
      for (let i = 0; i < Math.max(a.length, b.length); i++) walk(a[i], b[i], `${pointer}/${i}`);
    } else if (isObject(a) && isObject(b)) {
      for (const name of names(a, b)) walk(own(a, name), own(b, name), `${pointer}/${escape(name)}`);
    } else {
      places.push({ pointer, left: a, right: b });
    }
  };
  walk(left, right, "");
  return places;
}

/** same reports whether two values are the same but for the order of members. */
export function same(a, b) {
  if (a === b) return true;
  if (plain(a) || plain(b)) return isNumber(a) && isNumber(b) && String(a) === String(b);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a)) return a.length === b.length && a.every((value, i) => same(value, b[i]));
  const all = Object.keys(a);
  return all.length === Object.keys(b).length && all.every((name) => Object.hasOwn(b, name) && same(a[name], b[name]));
}

const own = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined);
const names = (a, b) => [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();

/**
 * match pairs the items of two lists by what key returns for each, in the order of their keys.
 * What has the same key as an item before it is paired with its like.
 * @param {any[]} left
 * @param {any[]} right
 * @param {(item: any) => string} key
 * @returns {{key: string, left: any, right: any, state: "same"|"changed"|"added"|"removed"}[]}
 */
export function match(left, right, key) {
  const pairs = new Map();
  const put = (items, side) => {
    const seen = new Map();
    for (const item of items) {
      const name = String(key(item));
      const count = (seen.get(name) ?? 0) + 1;
      seen.set(name, count);
      const id = JSON.stringify([name, count]);
      pairs.set(id, { key: name, left: undefined, right: undefined, ...pairs.get(id), [side]: item });
    }
  };
  put(left, "left");
  put(right, "right");
  return [...pairs.values()].map((pair) => ({ ...pair, state: stateOf(pair) })).sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function stateOf({ left, right }) {
  if (left === undefined) return "added";
  if (right === undefined) return "removed";
  return same(left, right) ? "same" : "changed";
}
