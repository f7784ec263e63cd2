// What else can be said of a call, as it is typed and as the API takes it.

import { parse } from "../lib/json.js";

const mostSeconds = 365 * 86_400;

/** spanOf reads seconds: it returns the milliseconds, or what is wrong; neither if nothing was typed. */
function spanOf(text = "") {
  const trimmed = text.trim();
  if (trimmed === "") return {};
  const seconds = /^\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : 0;
  const value = Math.round(seconds * 1000);
  return value >= 1 && seconds <= mostSeconds ? { value } : { wrong: `It must be a number of seconds, more than 0 and at most ${mostSeconds}.` };
}

// What parley says itself of every request.
const reserved = (key) => key === "progressToken" || key.startsWith("io.modelcontextprotocol/");

/** metaOf reads the object that was typed: it returns that, or what is wrong; neither if nothing was. */
function metaOf(text = "") {
  if (text.trim() === "") return {};
  let value;
  try {
    value = parse(text);
  } catch (error) {
    return { wrong: `This is not JSON: ${error.message}` };
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) return { wrong: "It must be a JSON object." };
  const taken = Object.keys(value).find(reserved);
  return taken ? { wrong: `${taken} is for parley to say: it would not be sent as it is here. Take it out.` } : { value };
}

/**
 * optionsOf reads the options of a call.
 * @param {{task?: boolean, ttl?: string, timeout?: string, logLevel?: string, metaText?: string}} typed
 * @returns {{wrong: Record<string, string>, meta?: object, task?: boolean, ttl?: number, timeout?: number, logLevel?: string}}
 * wrong is what is wrong, by the names of what was typed
 */
export function optionsOf({ task, ttl, timeout, logLevel, metaText }) {
  const read = { timeout: spanOf(timeout), ttl: task ? spanOf(ttl) : {}, metaText: metaOf(metaText) };
  const wrong = Object.fromEntries(Object.entries(read).flatMap(([name, { wrong }]) => (wrong ? [[name, wrong]] : [])));
  return { wrong, task: task || undefined, timeout: read.timeout.value, ttl: read.ttl.value, logLevel: logLevel || undefined, meta: read.metaText.value };
}
