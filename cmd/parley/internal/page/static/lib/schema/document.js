// A schema as a document within which references point. Nothing is ever fetched.

import { at, has, isObject, member } from "./value.js";

const mostNodes = 50_000;
const mostHops = 32;

/** Document is a whole schema; fields of a form are parts of one. */
export class Document {
  /** @param {unknown} root the schema, an object or a boolean */
  constructor(root) {
    this.root = root;
    this.dialect = String(member(root, "$schema") ?? "");
    // Up to draft-07, a reference stands alone.
    this.loneReferences = /draft-0[3-7]/.test(this.dialect);
  }

  /** find returns what a reference points to, or undefined if it is not in the document. */
  find(reference) {
    if (typeof reference !== "string") return undefined;
    const [base, fragment = ""] = reference.split("#", 2);
    const start = base === "" || base === member(this.root, "$id") ? this.root : this.names().get(base);
    if (start === undefined || fragment === "") return start;
    let place = fragment;
    try {
      place = decodeURIComponent(fragment);
    } catch {
      // then it is meant as it stands
    }
    return place.startsWith("/") ? at(start, place) : this.names().get(`#${place}`);
  }

  /**
   * follow returns the parts that a schema refers to and is made of, the outermost last,
   * or the reference that leads nowhere.
   * @returns {{parts: object[], lost?: string}}
   */
  follow(schema) {
    const parts = [];
    const seen = new Set();
    let lost;
    const visit = (part) => {
      if (part === false) parts.push({ not: {} });
      if (!isObject(part) || seen.has(part) || seen.size >= mostHops * 32) return;
      seen.add(part);
      const reference = member(part, "$ref") ?? member(part, "$dynamicRef") ?? member(part, "$recursiveRef");
      if (reference !== undefined) {
        const target = this.find(reference);
        if (target === undefined) lost ??= String(reference);
        else visit(target);
      }
      for (const sub of list(part, "allOf")) visit(sub);
      parts.push(part);
    };
    visit(schema);
    return { parts, lost };
  }

  /** names returns the subschemas that have names of their own. */
  names() {
    if (this.named) return this.named;
    this.named = new Map();
    const waiting = [this.root];
    for (let count = 0; waiting.length > 0 && count < mostNodes; count++) {
      const node = waiting.pop();
      if (isObject(node)) {
        for (const word of ["$anchor", "$dynamicAnchor"]) if (has(node, word)) this.name(`#${node[word]}`, node);
        if (has(node, "$id")) this.name(String(node.$id), node);
      }
      if (typeof node === "object" && node !== null) for (const child of Object.values(node)) waiting.push(child);
    }
    return this.named;
  }

  name(name, node) {
    if (!this.named.has(name)) this.named.set(name, node);
  }
}

/** list returns the array that a keyword has, or an empty one. */
export const list = (schema, word) => {
  const value = member(schema, word);
  return Array.isArray(value) ? value : [];
};
