// The official TypeScript client 2.x with the official package for tasks, of both eras:
//
//	node client_ext.mjs client stdio|http EXPECTED

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { TaskFailedError, createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { bindTaskReceiver } from "@modelcontextprotocol/ext-tasks/receiver";
import { z } from "zod";

import { assert } from "../lib/report.mjs";
import { check } from "./checks.mjs";

const identity = { name: "ext-tasks", version: "1" };
const capabilities = { elicitation: {}, sampling: {} };

async function connect({ command, url }, revision, more = {}) {
  const modern = revision === "2026-07-28";
  const client = new Client(identity, {
    capabilities: { ...capabilities, ...more },
    versionNegotiation: { mode: modern ? { pin: revision } : "legacy" },
  });
  const [program, ...args] = command ?? [];
  const transport = program
    ? new StdioClientTransport({ command: program, args })
    : new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  return { client, transport, modern };
}

async function open(server, revision, answer) {
  const { client, transport, modern } = await connect(server, revision);
  const wire = tap(transport);
  const framing = { protocolVersion: revision, clientInfo: identity, clientCapabilities: capabilities };
  const session = createTaskSessionFromClient(client, {
    endpointId: "parley",
    onInputRequest: async ({ kind }) => answer(kind),
    ...(modern && { rawDispatch: wire.dispatch, v2RequestFraming: framing }),
  });
  return {
    declared: session.capabilities.execution,
    async start(name, args) {
      const execution = await session.callTool(name, args, { task: { preference: modern ? "allow" : "require" } });
      assert(execution.kind === "task", "the call did not become a task");
      const id = execution.handle.taskId;
      const { status } = wire.created(id);
      return { id, status, done: modern ? settled(execution) : fetched(execution) };
    },
    status: (id) => session.task(id).snapshot(),
    cancel: (id) => session.cancelTask(id),
    list: async () => (await session.listTasks()).tasks.map((task) => task.taskId),
    told: wire.told,
    listen: !modern ? undefined : ((id) => wire.listen(id, framing)),
    // Without a task of the server, and so without this session.
    apart: (name) => apart(server, revision, name, answer),
    async close() {
      await session.close();
      await client.close();
    },
  };

  async function settled(execution, onEvent) {
    const { outcome } = await execution.settle({ onEvent });
    return resultFromTaskOutcome(outcome);
  }

  /**
   * fetched asks for the result of a task of 2025-11-25, which the package does only when
   * the task has completed: neither when it waits for an answer nor when it has failed.
   */
  function fetched(execution) {
    const params = { taskId: execution.handle.taskId };
    const fetch = () => client.request({ method: "tasks/result", params }, z.looseObject({}));
    let early;
    const onEvent = ({ task }) => {
      if (task?.status === "input_required") early ??= fetch();
    };
    return settled(execution, onEvent).catch((error) => {
      if (error instanceof TaskFailedError) return early ?? fetch();
      throw error;
    });
  }
}

/** apart has questions answered by the receiver of the package. */
async function apart(server, revision, name, answer) {
  const requests = { elicitation: { create: {} } };
  const { client } = await connect(server, revision, { tasks: { list: {}, cancel: {}, requests } });
  let asked = 0;
  const receiver = bindTaskReceiver(client, {
    methods: { "elicitation/create": true },
    pollIntervalMs: 20,
    elicitation: async () => {
      asked++;
      return answer("elicitation");
    },
  });
  const result = await client.callTool({ name });
  assert(asked === 1, `the server asked ${asked} times by a task`);
  receiver.close();
  await client.close();
  return result;
}

/**
 * tap sends what the client does not let pass, as the package expects it from its host,
 * and looks at what comes.
 */
function tap(transport) {
  const waiting = new Map();
  const created = new Map();
  let last = 0;
  let told = 0;
  let listening;
  const receive = transport.onmessage;
  transport.onmessage = (message, ...rest) => {
    const task = message.result?.task ?? message.result;
    if (task?.taskId && !created.has(task.taskId)) created.set(task.taskId, task);
    if (message.method?.startsWith("notifications/tasks")) told++;
    if (message.method === "notifications/subscriptions/acknowledged") listening?.();
    const done = message.method === undefined && waiting.get(message.id);
    if (!done) return receive(message, ...rest);
    waiting.delete(message.id);
    done(message.error ? { kind: "error", error: message.error } : { kind: "result", result: message.result });
  };
  const dispatch = (request) =>
    new Promise((done, fail) => {
      const id = `raw-${++last}`;
      waiting.set(id, done);
      transport.send({ jsonrpc: "2.0", id, ...request }).catch(fail);
    });
  return {
    dispatch,
    created: (id) => created.get(id),
    told: () => told,
    listen(id, { protocolVersion, clientInfo, clientCapabilities }) {
      const prefix = "io.modelcontextprotocol/";
      const extensions = { "io.modelcontextprotocol/tasks": {} };
      const _meta = {
        [`${prefix}protocolVersion`]: protocolVersion,
        [`${prefix}clientInfo`]: clientInfo,
        [`${prefix}clientCapabilities`]: { ...clientCapabilities, extensions },
      };
      const acknowledged = new Promise((done) => (listening = done));
      dispatch({ method: "subscriptions/listen", params: { _meta, notifications: { taskIds: [id] } } });
      return acknowledged;
    },
  };
}

await check(open, JSON.parse(process.argv[4]));
