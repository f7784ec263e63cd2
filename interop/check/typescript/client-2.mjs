// A client of @modelcontextprotocol/client 2.x that does everything:
// client-2.mjs MODE URL | MODE -- COMMAND..., where MODE is auto, legacy or a revision

import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { answers, drive, place } from "./drive.mjs";

const [mode, ...rest] = process.argv.slice(2);
const to = place(rest);
const fresh = { cacheMode: "refresh" }; // otherwise a fresh list comes from the client's memory
const ignore = { autoRefresh: true, onChanged: () => {} };
const client = new Client(
  { name: "innocent-client", version: "1.0.0" },
  {
    capabilities: { sampling: {}, roots: { listChanged: true }, elicitation: { form: {}, url: {} } },
    versionNegotiation: { mode: mode === "auto" || mode === "legacy" ? mode : { pin: mode } },
    listChanged: { tools: ignore, resources: ignore, prompts: ignore },
  },
);
client.setRequestHandler("sampling/createMessage", answers.sampling);
client.setRequestHandler("elicitation/create", answers.elicitation);
client.setRequestHandler("roots/list", answers.roots);

function transport() {
  if (to.command) return new StdioClientTransport({ command: to.command, args: to.args, stderr: "inherit" });
  return to.sse ? new SSEClientTransport(to.url) : new StreamableHTTPClientTransport(to.url);
}

const modern = () => client.getProtocolEra() === "modern";
const lists = { tools: "listTools", resources: "listResources", templates: "listResourceTemplates", prompts: "listPrompts" };
let connection;
await drive({
  connect: () => client.connect((connection = transport())),
  capabilities: () => client.getServerCapabilities(),
  list: (name, cursor) => client[lists[name]](cursor === undefined ? undefined : { cursor }, fresh),
  call: (name, args, options) => client.callTool({ name, arguments: args }, options),
  read: (uri, options) => client.readResource({ uri }, { ...options, ...fresh }),
  prompt: (name, args, options) => client.getPrompt({ name, arguments: args }, options),
  complete: (params, options) => client.complete(params, options),
  subscribe: (uri, options) =>
    modern() ? client.listen({ resourceSubscriptions: [uri] }, options) : client.subscribeResource({ uri }, options),
  unsubscribe: (uri, subscription, options) => (modern() ? subscription?.close() : client.unsubscribeResource({ uri }, options)),
  setLevel: (level, options) => client.setLoggingLevel(level, options),
  ping: (options) => (modern() ? client.discover(options) : client.ping(options)),
  rootsChanged: () => (modern() ? undefined : client.sendRootsListChanged()),
  close: async () => {
    if (!modern()) await connection.terminateSession?.();
    await client.close();
  },
});
