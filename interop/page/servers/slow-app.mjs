// A server on lines whose tool has an app, and answers once another tool says so: "wait" is answered by
// "finish", as a failure if its argument "fail" is true. The app keeps what it is told in window.heard.

import { createInterface } from "node:readline";

const uri = "ui://slow/app";
const mimeType = "text/html;profile=mcp-app";
const html = `<!doctype html>
<html lang="en">
<title>A patient app</title>
<p id="said">Nothing was said yet.</p>
<script>
window.heard = [];
const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
addEventListener("message", ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== "2.0") return;
  if (data.id === 1 && data.result) return send({ method: "ui/notifications/initialized", params: {} });
  if (data.method === undefined) return;
  window.heard.push({ method: data.method, params: data.params });
  document.getElementById("said").textContent = data.method;
  if (data.id !== undefined) send({ id: data.id, result: {} });
});
send({ id: 1, method: "ui/initialize", params: { protocolVersion: "2026-01-26", appInfo: { name: "patient", version: "1" }, appCapabilities: {} } });
</script>
</html>`;

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (said, isError) => ({ content: [{ type: "text", text: said }], ...(isError ? { isError } : {}) });
const waiting = new Map();

const schema = (properties) => ({ type: "object", properties });
const tools = [
  { name: "wait", inputSchema: schema({}), _meta: { ui: { resourceUri: uri } } },
  { name: "finish", inputSchema: schema({ fail: { type: "boolean" } }) },
];

const called = {
  wait: (id) => void waiting.set(id, id),
  finish: (id, { fail }) => {
    for (const one of waiting.keys()) say({ id: one, result: text(fail ? "it failed" : "it is there", fail) });
    waiting.clear();
    return text("finished");
  },
};

const answers = {
  initialize: (_, { protocolVersion }) => ({ protocolVersion, capabilities: { tools: {}, resources: {} }, serverInfo: { name: "slow-app", version: "1" } }),
  "tools/list": () => ({ tools }),
  "resources/list": () => ({ resources: [{ uri, name: "app", mimeType }] }),
  "resources/read": () => ({ contents: [{ uri, mimeType, text: html }] }),
  "tools/call": (id, { name, arguments: args }) => called[name](id, args ?? {}),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "notifications/cancelled") waiting.delete(params.requestId);
  if (id === undefined || method === undefined) return;
  if (!answers[method]) return say({ id, error: { code: -32601, message: `there is no ${method}` } });
  const result = answers[method](id, params);
  if (result !== undefined) say({ id, result });
});
