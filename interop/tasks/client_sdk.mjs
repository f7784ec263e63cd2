// The client of the official TypeScript SDK 1.x, with tasks of 2025-11-25 in both
// directions:
//
//	node client_sdk.mjs client stdio|http EXPECTED

import { InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  TaskStatusNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

import { assert } from "../lib/report.mjs";
import { check } from "./checks.mjs";

async function open({ command, url }, _, answer) {
  const client = new Client(
    { name: "sdk", version: "1" },
    {
      capabilities: {
        elicitation: {},
        sampling: {},
        tasks: { list: {}, cancel: {}, requests: { elicitation: { create: {} }, sampling: { createMessage: {} } } },
      },
      // With a queue as well, it would keep its answers to the questions of the server's
      // tasks to itself.
      taskStore: new InMemoryTaskStore(),
    },
  );
  let told = 0;
  let apart = 0;
  const answers = (kind) => async (request, extra) => {
    if (!request.params.task) return answer(kind);
    apart++;
    const task = await extra.taskStore.createTask({ ttl: extra.taskRequestedTtl, pollInterval: 20 });
    setTimeout(async () => extra.taskStore.storeTaskResult(task.taskId, "completed", await answer(kind)), 50);
    return { task };
  };
  client.setRequestHandler(ElicitRequestSchema, answers("elicitation"));
  client.setRequestHandler(CreateMessageRequestSchema, answers("sampling"));
  client.setNotificationHandler(TaskStatusNotificationSchema, () => void told++);
  const [program, ...args] = command ?? [];
  await client.connect(
    program ? new StdioClientTransport({ command: program, args }) : new StreamableHTTPClientTransport(new URL(url)),
  );
  await client.listTools(); // by which it learns which tools can be tasks
  const { tasks } = client.experimental;
  return {
    declared: client.getServerCapabilities().tasks,
    async start(name, args) {
      const stream = tasks.callToolStream({ name, arguments: args }, undefined, { task: { ttl: 60_000 } });
      const { value } = await stream.next();
      assert(value.type === "taskCreated", `no task, but ${JSON.stringify(value)}`);
      return { id: value.task.taskId, status: value.task.status, done: follow(value.task.taskId, stream) };
    },
    status: (id) => tasks.getTask(id),
    cancel: (id) => tasks.cancelTask(id),
    list: async () => (await tasks.listTasks()).tasks.map((task) => task.taskId),
    told: () => told,
    async apart(name) {
      const before = apart;
      const result = await client.callTool({ name });
      assert(apart > before, "the server asked without a task");
      return result;
    },
    close: () => client.close(),
  };

  async function follow(id, stream) {
    let last;
    for await (const message of stream) last = message;
    if (last.type === "result") return last.result;
    // The stream says only that the task has failed.
    return tasks.getTaskResult(id, CallToolResultSchema);
  }
}

await check(open, JSON.parse(process.argv[4]));
