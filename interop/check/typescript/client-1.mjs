// A client of SDK 1.x that does everything: client-1.mjs VERSION URL | VERSION -- COMMAND...

import { answers, drive, place } from "./drive.mjs";

const [version, ...rest] = process.argv.slice(2);
const sdk = (path) => import(`sdk-${version}/${path}`);
const { Client } = await sdk("client/index.js");
const types = await sdk("types.js");
const to = place(rest);

async function transport() {
  if (to.command) {
    const { StdioClientTransport } = await sdk("client/stdio.js");
    return new StdioClientTransport({ command: to.command, args: to.args, stderr: "inherit" });
  }
  if (to.sse || version === "1.0") {
    // The first versions expect a browser's EventSource, which Node does not have.
    globalThis.EventSource ??= (await import("eventsource")).EventSource;
    const { SSEClientTransport } = await sdk("client/sse.js");
    return new SSEClientTransport(to.url);
  }
  const { StreamableHTTPClientTransport } = await sdk("client/streamableHttp.js");
  return new StreamableHTTPClientTransport(to.url);
}

const elicits = types.ElicitRequestSchema !== undefined;
const modes = types.ElicitRequestURLParamsSchema ? { form: {}, url: {} } : {};
const client = new Client(
  { name: "innocent-client", version: "1.0.0" },
  { capabilities: { sampling: {}, roots: { listChanged: true }, ...(elicits && { elicitation: modes }) } },
);
client.setRequestHandler(types.CreateMessageRequestSchema, answers.sampling);
client.setRequestHandler(types.ListRootsRequestSchema, answers.roots);
if (elicits) client.setRequestHandler(types.ElicitRequestSchema, answers.elicitation);
const lists = { tools: "listTools", resources: "listResources", templates: "listResourceTemplates", prompts: "listPrompts" };
for (const [schema, name] of [
  [types.ToolListChangedNotificationSchema, "tools"],
  [types.ResourceListChangedNotificationSchema, "resources"],
  [types.PromptListChangedNotificationSchema, "prompts"],
]) {
  client.setNotificationHandler(schema, () => client[lists[name]]().then(() => {}, () => {}));
}
client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, ({ params }) =>
  client.readResource({ uri: params.uri }).then(() => {}, () => {}),
);
client.setNotificationHandler(types.LoggingMessageNotificationSchema, () => {});

let connection;
await drive({
  connect: async () => client.connect((connection = await transport())),
  // The first revision has completion, and no capability for it.
  capabilities: () => ({ ...(version === "1.0" && { completions: {} }), ...client.getServerCapabilities() }),
  list: (name, cursor) => client[lists[name]](cursor === undefined ? undefined : { cursor }),
  call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
  read: (uri, options) => client.readResource({ uri }, options),
  prompt: (name, args, options) => client.getPrompt({ name, arguments: args }, options),
  complete: (params, options) => client.complete(params, options),
  subscribe: (uri, options) => client.subscribeResource({ uri }, options),
  unsubscribe: (uri, _, options) => client.unsubscribeResource({ uri }, options),
  setLevel: (level, options) => client.setLoggingLevel(level, options),
  ping: (options) => client.ping(options),
  rootsChanged: () => client.sendRootsListChanged(),
  close: async () => {
    await connection.terminateSession?.();
    await client.close();
  },
});
