// Does with a client everything that it can do: the same for all versions of the SDK.
// Whatever fails is noted on standard error and left; the process ends with code 0.

import { setTimeout as sleep } from "node:timers/promises";

const each = 3_000; // of one request
const whole = 25_000; // of everything, after which the process ends
const pages = 50; // of one list: a server may never end one

/** Values for what a schema asks for: the first of a choice, "x", 1 and true. */
export function sample(schema = {}) {
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const choice = (schema.oneOf ?? schema.anyOf)?.[0];
  if (choice) return sample(choice);
  const type = [schema.type].flat()[0];
  if (type === "object" || schema.properties) {
    const properties = Object.entries(schema.properties ?? {});
    return Object.fromEntries(properties.map(([name, property]) => [name, sample(property)]));
  }
  if (type === "array") return [sample(schema.items)];
  if (type === "boolean") return true;
  if (type === "integer" || type === "number") return Math.max(1, schema.minimum ?? 1);
  if (type === "null") return null;
  return schema.format === "email" ? "x@example.com" : "x".padEnd(schema.minLength ?? 1, "x");
}

/** The answers of a willing host to what servers may ask. */
export const answers = {
  sampling: () => ({ role: "assistant", content: { type: "text", text: "x" }, model: "innocent-model", stopReason: "endTurn" }),
  elicitation: ({ params }) =>
    params.mode === "url" ? { action: "accept" } : { action: "accept", content: sample(params.requestedSchema) },
  roots: () => ({ roots: [{ uri: "file:///tmp", name: "tmp" }] }),
};

/**
 * drive takes a client of the form that client-1.mjs and client-2.mjs make of theirs:
 * list(name, cursor), call(name, args, options), and functions named as below. It uses
 * what the server declares.
 */
export async function drive(client) {
  const done = {};
  setTimeout(() => finish(done), whole).unref();
  process.on("uncaughtException", (error) => console.error("uncaught:", error.message));
  process.on("unhandledRejection", (error) => console.error("unhandled:", error?.message));

  async function attempt(step, run, limit = 2 * each) {
    try {
      const result = await Promise.race([run(), sleep(limit, undefined, { ref: false }).then(() => Promise.reject(new Error("no end")))]);
      done[step] = (done[step] ?? 0) + 1;
      return result;
    } catch (error) {
      console.error(`${step}: ${error?.message}`);
    }
  }

  async function all(name, member) {
    const found = [];
    let cursor;
    for (let page = 0; page < pages; page++) {
      const result = await attempt(`list ${name}`, () => client.list(name, cursor));
      found.push(...(result?.[member] ?? []));
      cursor = result?.nextCursor;
      if (cursor === undefined) break;
    }
    return found;
  }

  if ((await attempt("connect", async () => (await client.connect(), true), whole))) {
    const options = { timeout: each };
    const has = client.capabilities() ?? {};
    if (has.logging) await attempt("level", () => client.setLevel("debug", options));
    const tools = has.tools ? await all("tools", "tools") : [];
    const resources = has.resources ? await all("resources", "resources") : [];
    const templates = has.resources ? await all("templates", "resourceTemplates") : [];
    const prompts = has.prompts ? await all("prompts", "prompts") : [];
    const watched = has.resources?.subscribe && resources[0]?.uri;
    const watch = watched && (await attempt("subscribe", () => client.subscribe(watched, options)));
    for (const { name, inputSchema } of tools) {
      await attempt("call", () => client.call(name, sample(inputSchema), { ...options, onprogress: () => (done.progress = (done.progress ?? 0) + 1) }));
    }
    for (const { uri } of resources) await attempt("read", () => client.read(uri, options));
    for (const { uriTemplate } of templates) {
      await attempt("read", () => client.read(uriTemplate.replace(/\{[^}]*\}/g, "x"), options));
      const name = /\{[^}\w]*(\w+)/.exec(uriTemplate)?.[1];
      const ref = { type: "ref/resource", uri: uriTemplate };
      if (has.completions && name) await attempt("complete", () => client.complete({ ref, argument: { name, value: "" } }, options));
    }
    for (const { name, arguments: args = [] } of prompts) {
      await attempt("prompt", () => client.prompt(name, Object.fromEntries(args.map((arg) => [arg.name, "x"])), options));
      const ref = { type: "ref/prompt", name };
      if (has.completions && args.length > 0) await attempt("complete", () => client.complete({ ref, argument: { name: args[0].name, value: "p" } }, options));
    }
    await attempt("ping", () => client.ping(options));
    const slow = tools.find(({ name }) => /slow|count|paced|long/.test(name)) ?? tools[0];
    if (slow) {
      const abort = new AbortController();
      setTimeout(() => abort.abort("enough"), 100);
      const cancelled = client.call(slow.name, sample(slow.inputSchema), { ...options, signal: abort.signal });
      await cancelled.then(() => {}, () => (done.cancel = 1));
    }
    await attempt("roots changed", () => client.rootsChanged());
    await sleep(200); // for notifications on their way
    if (watched) await attempt("unsubscribe", () => client.unsubscribe(watched, watch, options));
    await attempt("close", () => client.close());
  }
  finish(done);
}

function finish(done) {
  process.stdout.write(`${JSON.stringify(done)}\n`, () => process.exit(0));
}

/** Where a driver has to go: a URL, or a server to start (after "--"). */
export function place(args) {
  if (args[0] === "--") return { command: args[1], args: args.slice(2) };
  const url = new URL(args[0]);
  return { url, sse: /\/sse\/?$/.test(url.pathname) };
}
