// A server on lines whose tool says as much as it is told to before it answers.

import { createInterface } from "node:readline";

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo: { name: "flood", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "flood", inputSchema: { type: "object", properties: { count: { type: "integer" } } } }] }),
  "tools/call": ({ arguments: { count } }) => {
    for (let i = 0; i < count; i++) say({ method: "notifications/message", params: { level: "info", data: `drop ${i} of the flood` } });
    return { content: [{ type: "text", text: `${count} drops` }] };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  say(answer ? { id, result: answer(params) } : { id, error: { code: -32601, message: `there is no ${method}` } });
});
