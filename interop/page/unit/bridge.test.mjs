import assert from "node:assert/strict";
import { test } from "node:test";

import { Bridge, Refusal } from "../../../cmd/parley/internal/page/static/inspect/app/bridge.js";

const settled = () => new Promise((done) => setImmediate(done));

/** start returns a bridge, and all that it sends and notes. */
function start(host = {}) {
  const sent = [];
  const notes = [];
  let now = 0;
  const bridge = new Bridge({
    send: (message) => sent.push(message),
    note: (entry) => notes.push(entry),
    host,
    about: () => ({ hostInfo: { name: "host", version: "1" }, hostCapabilities: {}, hostContext: { theme: "dark" } }),
    now: () => now,
  });
  const ask = async (id, method, params) => {
    bridge.receive({ jsonrpc: "2.0", id, method, params });
    await settled();
    return sent.find((message) => message.id === id && message.method === undefined);
  };
  const begin = async () => {
    await ask("begin", "ui/initialize", { appInfo: { name: "app", version: "1" }, appCapabilities: {}, protocolVersion: "2026-01-26" });
    bridge.receive({ jsonrpc: "2.0", method: "ui/notifications/initialized" });
  };
  return { bridge, sent, notes, ask, begin, later: (ms) => (now += ms) };
}

test("an app begins, and is sent nothing before it listens", async () => {
  const { bridge, sent, ask } = start();
  bridge.notify("ui/notifications/tool-input", { arguments: { a: 1 } });
  bridge.notify("ui/notifications/tool-result", { content: [] });
  bridge.receive({ jsonrpc: "2.0", method: "ui/notifications/initialized" }); // too early
  assert.deepEqual(sent, []);
  const { result } = await ask(1, "ui/initialize", { protocolVersion: "2099-01-01" });
  assert.equal(result.protocolVersion, "2026-01-26");
  assert.equal(result.hostContext.theme, "dark");
  assert.equal(sent.length, 1);
  bridge.receive({ jsonrpc: "2.0", method: "ui/notifications/initialized" });
  assert.deepEqual(sent.slice(1).map(({ method }) => method), ["ui/notifications/tool-input", "ui/notifications/tool-result"]);
  bridge.receive({ jsonrpc: "2.0", method: "ui/notifications/initialized" });
  assert.equal(sent.length, 3, "nothing is sent twice");
});

test("requests reach the host, and its answers the app", async () => {
  const host = { call: async (name, args) => ({ content: [], name, args }), read: async (uri) => ({ contents: [{ uri }] }), open: () => ({}), message: () => ({}), context: () => ({}) };
  const { ask, begin } = start(host);
  await begin();
  assert.deepEqual((await ask(1, "tools/call", { name: "t", arguments: { x: 1 } })).result, { content: [], name: "t", args: { x: 1 } });
  assert.deepEqual((await ask(2, "resources/read", { uri: "a:b" })).result, { contents: [{ uri: "a:b" }] });
  assert.deepEqual((await ask(3, "ping")).result, {});
  assert.deepEqual((await ask(4, "ui/open-link", { url: "https://x.example" })).result, {});
  assert.deepEqual((await ask(5, "ui/message", { role: "user", content: [] })).result, {});
  assert.deepEqual((await ask(6, "ui/update-model-context", { content: [] })).result, {});
  assert.deepEqual((await ask(7, "ui/request-display-mode", { mode: "fullscreen" })).result, { mode: "inline" });
});

test("what is not allowed is refused, and noted", async () => {
  const host = {
    call: async () => {
      throw new Refusal("the user refused");
    },
    read: async () => {
      throw Object.assign(new Error("no such resource"), { code: -32002, data: { uri: "a:b" } });
    },
  };
  const { ask, begin, notes } = start(host);
  assert.equal((await ask(1, "tools/call", { name: "t" })).error.code, -32600, "before the beginning");
  await begin();
  assert.deepEqual((await ask(2, "tools/call", { name: "t" })).error, { code: -32000, message: "the user refused" });
  assert.deepEqual((await ask(3, "resources/read", { uri: "a:b" })).error, { code: -32002, message: "no such resource", data: { uri: "a:b" } });
  for (const [id, method] of [[4, "tools/list"], [5, "sampling/createMessage"], [6, "ui/download-file"], [7, "__proto__"], [8, "constructor"], [9, "toString"]]) {
    assert.equal((await ask(id, method, {})).error.code, -32601, method);
  }
  assert.equal((await ask(10, "tools/call", { name: { toString: 1 } })).error.code, -32602);
  assert.ok(notes.some(({ message, refused }) => message?.method === "tools/list" && refused));
});

test("what is no message is refused", async () => {
  const { bridge, sent, notes, begin } = start();
  await begin();
  const before = sent.length;
  const round = { jsonrpc: "2.0" };
  round.round = round;
  const wrong = [undefined, null, 1, "text", [], [{ jsonrpc: "2.0" }], {}, round, { jsonrpc: "1.0", method: "ping", id: 1 }, { jsonrpc: "2.0", method: 1, id: 1 }, { jsonrpc: "2.0", id: {}, method: "ping" }];
  wrong.push({ jsonrpc: "2.0", id: 1, method: "ping", params: [] }, { jsonrpc: "2.0", id: 7, result: {} }, { jsonrpc: "2.0", method: "x".repeat(2 << 20) }, { jsonrpc: "2.0", id: 1n, method: "ping" });
  for (const data of wrong) bridge.receive(data);
  await settled();
  assert.equal(sent.length, before);
  assert.equal(notes.filter(({ refused }) => refused).length, wrong.length);
});

test("a forged answer answers nothing", async () => {
  const { bridge, begin } = start();
  await begin();
  const answer = bridge.request("ui/resource-teardown", { reason: "x" });
  bridge.receive({ jsonrpc: "2.0", id: "host-2", result: { forged: true } });
  bridge.receive({ jsonrpc: "2.0", id: "host-1", result: { ok: true } });
  assert.deepEqual((await answer).result, { ok: true });
});

test("a flood is dropped, and said once", async () => {
  const { bridge, sent, notes, begin, later } = start();
  await begin();
  const before = notes.length;
  for (let id = 0; id < 10_000; id++) bridge.receive({ jsonrpc: "2.0", method: "ui/notifications/size-changed", params: { height: "x" } });
  assert.ok(notes.length - before <= 300, `${notes.length - before} notes`);
  assert.equal(notes.filter(({ refused }) => refused?.includes("more messages")).length, 1);
  later(1000);
  bridge.receive({ jsonrpc: "2.0", id: "after", method: "ping" });
  await settled();
  assert.ok(sent.some(({ id }) => id === "after"));
});

test("few requests wait at a time", async () => {
  const { ask, begin } = start({ call: () => new Promise(() => {}) });
  await begin();
  for (let id = 0; id < 32; id++) assert.equal(await ask(id, "tools/call", { name: "t" }), undefined);
  assert.match((await ask(32, "tools/call", { name: "t" })).error.message, /wait already/);
});

test("sizes are bounded", async () => {
  const sizes = [];
  const { bridge, begin } = start({ size: (height) => sizes.push(height) });
  await begin();
  for (const height of [100.2, 1e9, -5, "300", null, { valueOf: 1 }]) bridge.receive({ jsonrpc: "2.0", method: "ui/notifications/size-changed", params: { height } });
  assert.deepEqual(sizes, [101, 4000, 40]);
});
