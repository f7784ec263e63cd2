// The host's side of what an app and its host say to each other: JSON-RPC, which is not
// trusted before it was looked at. Nothing here knows of frames; see frame.js.
//
// Spec: extensions/apps 2026-01-26 specification#communication-protocol.

import { stringify } from "../../lib/json.js";

export const protocolVersion = "2026-01-26";

const longest = 1 << 20; // characters of a message
const burst = 300; // messages that may come at once
const perSecond = 150;
const mostPending = 32; // requests of an app that wait for their answers

/** Refusal is why an app does not get what it asks for. */
export class Refusal extends Error {
  constructor(message, code = -32000) {
    super(message);
    this.code = code;
  }
}

/**
 * Bridge speaks with one app.
 *
 *   send(message)            has the app get a message
 *   note({from, message, refused})  is told of every message in both directions
 *   host                     does what apps ask for: see methods; what it throws is the app's answer
 *   about                    {hostInfo, hostCapabilities, hostContext}
 *   now()                    milliseconds
 */
export class Bridge {
  constructor({ send, note, host, about, now = () => performance.now() }) {
    Object.assign(this, { send, note, host, about, now, ready: false, waiting: [], pending: 0, dropped: 0, left: burst, at: now(), asked: new Map(), lastID: 0 });
  }

  /** receive takes what came from the app: any value that can be cloned. */
  receive(data) {
    if (!this.mayCome()) {
      if (this.dropped++ === 0) this.note({ from: "app", refused: "it sends more messages than anybody reads: some are dropped" });
      return;
    }
    const { message, why } = read(data);
    if (why) {
      this.note({ from: "app", message, refused: why });
      return;
    }
    if (message.method === undefined) this.answered(message);
    else if (message.id === undefined) this.notified(message);
    else this.requested(message);
  }

  mayCome() {
    const now = this.now();
    this.left = Math.min(burst, this.left + ((now - this.at) / 1000) * perSecond);
    this.at = now;
    if (this.left < 1) return false;
    this.left--;
    return true;
  }

  notified(message) {
    const { method, params } = message;
    if (method === "ui/notifications/initialized") {
      this.note({ from: "app", message });
      this.begin();
      return;
    }
    const known = notifications[method];
    this.note({ from: "app", message, refused: known ? undefined : "the host does not know this notification" });
    known?.(this.host, params ?? {});
  }

  async requested(message) {
    const { id, method, params } = message;
    const refusal = this.refusalOf(method);
    this.note({ from: "app", message, refused: refusal?.message });
    if (refusal) {
      this.reply({ id, error: { code: refusal.code, message: refusal.message } });
      return;
    }
    this.pending++;
    try {
      this.reply({ id, result: await this.perform(method, params ?? {}) });
    } catch (error) {
      const { code = -32000, message = "it failed", data } = error ?? {};
      this.reply({ id, error: { code: Number.isInteger(code) ? code : -32000, message, data } });
    } finally {
      this.pending--;
    }
  }

  refusalOf(method) {
    if (!(method in requests) && method !== "ui/initialize") return new Refusal(`this host does not do ${method.slice(0, 100)}`, -32601);
    if (this.pending >= mostPending) return new Refusal(`${mostPending} requests wait already: wait for their answers`);
    if (!this.begun && method !== "ui/initialize" && method !== "ping") return new Refusal("the app has not begun with ui/initialize", -32600);
    return undefined;
  }

  perform(method, params) {
    if (method !== "ui/initialize") return requests[method](this.host, params);
    this.begun = true;
    this.host.begins?.({ info: params.appInfo, capabilities: params.appCapabilities, version: params.protocolVersion });
    return { protocolVersion, ...this.about() };
  }

  reply(message) {
    this.post({ jsonrpc: "2.0", ...message });
  }

  /** begin is when the app may be sent to: everything that waits goes out. */
  begin() {
    if (this.ready || !this.begun) return;
    this.ready = true;
    for (const message of this.waiting.splice(0)) this.post(message);
  }

  /** notify tells the app something, as soon as it listens. */
  notify(method, params) {
    const message = { jsonrpc: "2.0", method, params };
    if (this.ready) this.post(message);
    else this.waiting.push(message);
  }

  /** request asks the app something; its answer may never come. */
  request(method, params) {
    if (!this.ready) return Promise.resolve(undefined);
    const id = `host-${++this.lastID}`;
    return new Promise((done) => {
      this.asked.set(id, done);
      this.post({ jsonrpc: "2.0", id, method, params });
    });
  }

  answered(message) {
    const done = this.asked.get(message.id);
    this.note({ from: "app", message, refused: done ? undefined : "nothing was asked by this ID" });
    this.asked.delete(message.id);
    done?.(message);
  }

  // Numbers leave as JSON has them, and classes of the page do not.
  post(message) {
    const plain = JSON.parse(stringify(message));
    this.note({ from: "host", message: plain });
    this.send(plain);
  }
}

/** read returns a message if it is one. */
function read(data) {
  let text;
  try {
    text = JSON.stringify(data);
  } catch {
    return { why: "it is not JSON" };
  }
  if (text === undefined || text[0] !== "{") return { why: "it is no JSON object" };
  if (text.length > longest) return { why: `it has ${text.length} characters, and ${longest} are allowed` };
  const message = JSON.parse(text);
  return { message, why: wrongWith(message) };
}

function wrongWith({ jsonrpc, id, method, params, result, error }) {
  if (jsonrpc !== "2.0") return `its "jsonrpc" is not "2.0"`;
  if (id !== undefined && typeof id !== "string" && !Number.isInteger(id)) return "its ID is neither a text nor an integer";
  if (method === undefined) return id === undefined || (result === undefined && error === undefined) ? "it is no request, no notification and no answer" : undefined;
  if (typeof method !== "string") return "its method is no text";
  if (params !== undefined && (params === null || typeof params !== "object" || Array.isArray(params))) return "its params are no object";
  return undefined;
}

const text = (value, what) => {
  if (typeof value !== "string") throw new Refusal(`${what} is no text`, -32602);
  return value;
};

// What apps may ask for. Spec: extensions/apps 2026-01-26 specification#standard-mcp-messages.
const requests = {
  __proto__: null,
  ping: () => ({}),
  "tools/call": (host, { name, arguments: args }) => host.call(text(name, "name"), args ?? {}),
  "resources/read": (host, { uri }) => host.read(text(uri, "uri")),
  "ui/open-link": (host, { url }) => host.open(text(url, "url")),
  "ui/message": (host, { role, content }) => host.message({ role, content }),
  "ui/update-model-context": (host, { content, structuredContent }) => host.context({ content, structuredContent }),
  "ui/request-display-mode": () => ({ mode: "inline" }),
};

const notifications = {
  __proto__: null,
  "notifications/message": (host, { level, logger, data }) => host.log({ level, logger, data }),
  "ui/notifications/size-changed": (host, { height }) => Number.isFinite(height) && host.size(Math.min(Math.max(Math.ceil(height), 40), 4000)),
  "ui/notifications/request-teardown": (host) => host.leave(),
};
