import assert from "node:assert/strict";
import { test } from "node:test";

import { connect } from "../../../cmd/parley/internal/page/static/inspect/app/frame.js";

const origin = "http://localhost:7001";

/** start returns a frame that shows an app, and what the page hears of it. */
function start(t) {
  const window = new EventTarget();
  const globals = { window, addEventListener: window.addEventListener.bind(window), removeEventListener: window.removeEventListener.bind(window) };
  Object.assign(globalThis, globals);
  t.mock.timers.enable({ apis: ["setInterval"] });
  const sent = [];
  const heard = [];
  const stopped = [];
  const proxy = { postMessage: (message, to) => sent.push({ message, to }) };
  const link = connect({
    element: { contentWindow: proxy },
    frame: { url: `${origin}/ID/`, permissions: { camera: {} } },
    html: "<p>app",
    onMessage: (data) => heard.push(data),
    onDropped: ({ count }) => heard.push(`dropped ${count}`),
    onStop: (why) => stopped.push(why),
  });
  t.after(() => {
    link.end();
    for (const name of Object.keys(globals)) delete globalThis[name];
  });
  const says = (data, from = {}) => window.dispatchEvent(Object.assign(new Event("message"), { data, source: proxy, origin, ...from }));
  return { sent, heard, stopped, says, tick: (ms) => t.mock.timers.tick(ms) };
}

const of = (method, params = {}) => ({ jsonrpc: "2.0", method: `ui/notifications/sandbox-${method}`, params });

test("the app is sent to the sandbox once, to its origin only", (t) => {
  const { sent, says, heard } = start(t);
  for (let at = 0; at < 3; at++) says(of("proxy-ready"));
  assert.equal(sent.length, 1);
  assert.equal(sent[0].to, origin);
  assert.equal(sent[0].message.params.html, "<p>app");
  says({ jsonrpc: "2.0", id: 1, method: "ping" });
  says(of("dropped", { count: 7 }));
  assert.deepEqual(heard, [{ jsonrpc: "2.0", id: 1, method: "ping" }, "dropped 7"]);
});

test("an app that goes elsewhere is stopped", (t) => {
  const { says, stopped, heard } = start(t);
  says(of("proxy-ready"));
  says(of("left"));
  assert.deepEqual(stopped, ["It tried to go elsewhere, and was stopped."]);
  assert.deepEqual(heard, []);
});

test("what other windows and origins say is not heard, and a flood of it stops the app", (t) => {
  const { says, stopped, heard, sent, tick } = start(t);
  const app = { source: {}, origin: "null" };
  for (const from of [app, { origin: "http://localhost:7002" }, { source: globalThis.window, origin: "http://127.0.0.1:7000" }]) {
    for (const method of ["proxy-ready", "left", "dropped"]) says(of(method), from);
  }
  assert.deepEqual([heard, sent, stopped], [[], [], []]);
  for (let second = 0; second < 3; second++) {
    tick(1000);
    for (let at = 0; at < 1000; at++) says({}, app);
  }
  assert.deepEqual(stopped, [], "a thousand messages a second are borne");
  for (let at = 0; at < 1000; at++) says({}, app);
  assert.deepEqual(stopped, ["It flooded this page with messages, and was stopped."]);
});
