// A server on lines whose tools say as much as they are told to before they answer: log messages, or
// progress of the call.

import { createInterface } from "node:readline";

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo: { name: "flood", version: "1" } }),
  "tools/list": () => ({ tools: ["flood", "wade"].map((name) => ({ name, inputSchema: { type: "object", properties: { count: { type: "integer" } } } })) }),
  "tools/call": ({ name, arguments: { count }, _meta }) => {
    for (let i = 1; i <= count; i++) {
      if (name === "flood") say({ method: "notifications/message", params: { level: "info", data: `drop ${i - 1} of the flood` } });
      else say({ method: "notifications/progress", params: { progressToken: _meta.progressToken, progress: i, total: count } });
    }
    return { content: [{ type: "text", text: `${count} drops` }] };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  say(answer ? { id, result: answer(params) } : { id, error: { code: -32601, message: `there is no ${method}` } });
});
