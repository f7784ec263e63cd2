// A server of the official TypeScript SDK 1.x, whose tools are tasks of 2025-11-25:
//
//	node server_sdk.mjs server stdio
//	node server_sdk.mjs server http
//
// Over HTTP, it writes its URL to standard output.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

import { InMemoryTaskMessageQueue, InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CreateMessageResultSchema, ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

const text = (said) => ({ content: [{ type: "text", text: said }] });

const form = (message, fields) => ({
  mode: "form",
  message,
  requestedSchema: { type: "object", properties: fields, required: Object.keys(fields) },
});

function build() {
  const server = new McpServer(
    { name: "interop", version: "1" },
    {
      capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
      taskStore: new InMemoryTaskStore(),
      taskMessageQueue: new InMemoryTaskMessageQueue(),
      defaultTaskPollInterval: 50,
    },
  );

  // work gets { args, ask, say, cancelled }, and what it returns is the result.
  const task = (name, inputSchema, work, taskSupport = "required") => {
    const createTask = async (args, extra) => {
      const { taskStore } = extra;
      const { taskId, ...rest } = await taskStore.createTask({ ttl: extra.taskRequestedTtl ?? 600_000, pollInterval: 50 });
      const about = { relatedTask: { taskId } };
      run().catch((error) => taskStore.storeTaskResult(taskId, "failed", { ...text(String(error)), isError: true }));
      return { task: { taskId, ...rest } };

      async function run() {
        const result = await work({
          args,
          about,
          ask: async (request, schema) => {
            const answer = await extra.sendRequest(request, schema, about);
            await taskStore.updateTaskStatus(taskId, "working"); // which the SDK leaves to its user
            return answer;
          },
          wait: () => taskStore.updateTaskStatus(taskId, "input_required"),
          say: (message) => taskStore.updateTaskStatus(taskId, "working", message),
          cancelled: async () => (await taskStore.getTask(taskId)).status === "cancelled",
        });
        if (result) await taskStore.storeTaskResult(taskId, result.isError ? "failed" : "completed", result);
      }
    };
    const handler = {
      createTask,
      getTask: (_, extra) => extra.taskStore.getTask(extra.taskId),
      getTaskResult: (_, extra) => extra.taskStore.getTaskResult(extra.taskId),
    };
    server.experimental.tasks.registerToolTask(name, { description: "For parley", inputSchema, execution: { taskSupport } }, handler);
  };

  const count = async ({ args, say, cancelled }) => {
    for (let step = 1; step <= args.steps; step++) {
      await sleep(1000 * args.pause);
      if (await cancelled()) return undefined;
      await say(`${step} of ${args.steps}`);
    }
    return text(`counted to ${args.steps}`);
  };
  task("count", { steps: z.number().int(), pause: z.number() }, count, "optional");
  task("order", {}, async ({ ask }) => {
    const params = form("What do you want?", { name: { type: "string" }, amount: { type: "integer" } });
    const { content } = await ask({ method: "elicitation/create", params }, ElicitResultSchema);
    return text(`${content.name} wants ${content.amount}`);
  });
  task("ask", { text: z.string() }, async ({ args, ask }) => {
    const params = { messages: [{ role: "user", content: { type: "text", text: args.text } }], maxTokens: 50 };
    const { content } = await ask({ method: "sampling/createMessage", params }, CreateMessageResultSchema);
    return text(`the model said: ${content.text}`);
  });
  task("fail", {}, async () => ({ ...text("it failed"), isError: true }));
  task("apart", {}, async ({ about, wait }) => {
    await wait(); // without this, the SDK never says that the question has to be fetched
    const params = form("Who are you?", { name: { type: "string" } });
    const stream = server.server.experimental.tasks.elicitInputStream(params, { task: { ttl: 60_000 }, ...about });
    for await (const message of stream) {
      if (message.type === "result") return text(`Hello, ${message.result.content.name}.`);
      if (message.type === "error") return { ...text(message.error.message), isError: true };
    }
  });
  return server;
}

async function serveHTTP() {
  const sessions = new Map();
  const http = createServer(async (request, response) => {
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => sessions.set(id, transport),
      });
      await build().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}

if (process.argv[3] === "http") await serveHTTP();
else await build().connect(new StdioServerTransport());
