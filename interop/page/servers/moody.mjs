// A server on standard input and output whose one tool is described by a file, so that it
// can be another one the next time that the server is started.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , file] = process.argv;
const description = readFileSync(file, "utf8");
const tool = { name: "pay", title: "Pay", description, inputSchema: { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] }, annotations: { destructiveHint: true } };

const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "moody", version: "1.0.0" } }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": ({ arguments: given }) => ({ content: [{ type: "text", text: `paid ${given.amount}` }] }),
};

console.error("moody is there, in a good mood \u001b[31mand in red\u001b[0m");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const message = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: "Method not found" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...message })}\n`);
});
