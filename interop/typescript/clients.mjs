// One adapter per generation of the official TypeScript SDK, so that the checks
// are written once. The package aliases are those of package.json.

import { readFileSync } from "node:fs";

const identity = { name: "parley-interop", version: "1.0.0" };

/**
 * Every client of the suite: `revision` is the protocol revision that must be
 * negotiated; `remote` is how it reaches a URL, by default with Streamable HTTP.
 */
export const clients = [
  {
    alias: "client-2024-11-05",
    revision: "2024-11-05",
    open: openV1,
    elicitation: false,
    remote: "sse",
  },
  { alias: "client-2025-03-26", revision: "2025-03-26", open: openV1, elicitation: false },
  { alias: "client-2025-06-18", revision: "2025-06-18", open: openV1, elicitation: true },
  { alias: "client-2025-11-25", revision: "2025-11-25", open: openV1, elicitation: true },
  {
    alias: "client-2026-07-28",
    revision: "2026-07-28",
    open: openV2,
    elicitation: true,
    mode: { pin: "2026-07-28" },
    label: "pinned",
  },
  // The second generation meets most servers in these two ways: probing first,
  // and, without any option, as a client of the last revision with a handshake.
  {
    alias: "client-2026-07-28",
    revision: "2026-07-28",
    open: openV2,
    elicitation: true,
    mode: "auto",
    label: "auto",
  },
  {
    alias: "client-2026-07-28",
    revision: "2025-11-25",
    open: openV2,
    elicitation: true,
    mode: "legacy",
    label: "default",
  },
];

export function packageOf(client) {
  const file = new URL(`node_modules/${client.alias}/package.json`, import.meta.url);
  const { name, version } = JSON.parse(readFileSync(file, "utf8"));
  return { name, version };
}

function capabilitiesOf(client, handlers) {
  return {
    sampling: {},
    // `{}` is how 2025-06-18 declares it and means form mode in later revisions.
    ...(client.elicitation && { elicitation: handlers.visits && canVisit(client) ? { form: {}, url: {} } : {} }),
    ...(handlers.roots && { roots: {} }),
  };
}

/** canVisit says whether users of a client can be sent to a page. */
export const canVisit = (client) => client.elicitation && client.revision >= "2025-11-25";

/** way makes a client's transport to a command to start, or to a URL. */
async function way(client, { command, args, origin }) {
  const first = client.open === openV1;
  if (command) {
    const { StdioClientTransport } = await import(`${client.alias}/${first ? "client/stdio.js" : "stdio"}`);
    return new StdioClientTransport({ command, args, stderr: "pipe" });
  }
  if (client.remote === "sse") {
    const { SSEClientTransport } = await import(`${client.alias}/client/sse.js`);
    // This version expects a browser's EventSource, which Node does not have.
    globalThis.EventSource ??= (await import("eventsource")).EventSource;
    return new SSEClientTransport(new URL("/sse", origin));
  }
  const { StreamableHTTPClientTransport } = await import(
    first ? `${client.alias}/client/streamableHttp.js` : client.alias
  );
  return new StreamableHTTPClientTransport(new URL("/mcp", origin));
}

/**
 * Packages @modelcontextprotocol/sdk 1.x: handlers by schema, options last. A client has roots
 * if there is a handler for them, and visits pages if `visits` is set.
 */
async function openV1(client, place, handlers) {
  const { Client } = await import(`${client.alias}/client/index.js`);
  const types = await import(`${client.alias}/types.js`);
  const transport = await way(client, place);
  const wire = tap(transport);
  const sdk = new Client(identity, { capabilities: capabilitiesOf(client, handlers) });
  sdk.setRequestHandler(types.CreateMessageRequestSchema, handlers.sampling);
  if (handlers.roots) sdk.setRequestHandler(types.ListRootsRequestSchema, handlers.roots);
  if (client.elicitation) sdk.setRequestHandler(types.ElicitRequestSchema, handlers.elicitation);
  return {
    sdk,
    transport,
    wire,
    connect: () => sdk.connect(transport),
    // These clients do not expose the negotiated revision.
    revision: () => wire.resultOf("initialize")?.protocolVersion,
    callTool: (params, options) => sdk.callTool(params, undefined, options),
    list: {
      tools: () => sdk.listTools(),
      resources: () => sdk.listResources(),
      resourceTemplates: () => sdk.listResourceTemplates(),
      prompts: () => sdk.listPrompts(),
    },
    alive: () => sdk.ping(),
  };
}

/** Package @modelcontextprotocol/client 2.x: handlers by method, results cached. */
async function openV2(client, place, handlers) {
  const { Client } = await import(client.alias);
  const transport = await way(client, place);
  const wire = tap(transport);
  const sdk = new Client(identity, {
    capabilities: capabilitiesOf(client, handlers),
    versionNegotiation: { mode: client.mode },
  });
  sdk.setRequestHandler("sampling/createMessage", handlers.sampling);
  sdk.setRequestHandler("elicitation/create", handlers.elicitation);
  if (handlers.roots) sdk.setRequestHandler("roots/list", handlers.roots);
  // A fresh list is served from the client's memory without asking the server.
  const fresh = { cacheMode: "refresh" };
  return {
    sdk,
    transport,
    wire,
    connect: () => sdk.connect(transport),
    revision: () => sdk.getNegotiatedProtocolVersion(),
    callTool: (params, options) => sdk.callTool(params, options),
    list: {
      tools: () => sdk.listTools(undefined, fresh),
      resources: () => sdk.listResources(undefined, fresh),
      resourceTemplates: () => sdk.listResourceTemplates(undefined, fresh),
      prompts: () => sdk.listPrompts(undefined, fresh),
    },
    // Revision 2026-07-28 no longer has ping.
    alive: () =>
      client.revision === "2026-07-28" ? sdk.listTools(undefined, fresh) : sdk.ping(),
  };
}

/**
 * tap records all messages of one instance of a transport. It has to be this
 * instance, not a subclass: the second generation probes a server in a process
 * of its own only when it is given exactly its own transport class.
 */
function tap(transport) {
  const messages = [];
  const send = transport.send;
  transport.send = function (message, ...rest) {
    messages.push({ sent: true, message });
    return send.call(this, message, ...rest);
  };
  let receive;
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    // The getter answers undefined until a handler is set, because some versions
    // of the SDK chain to the handler they find there.
    get: () =>
      receive &&
      ((message, ...rest) => {
        messages.push({ sent: false, message });
        receive(message, ...rest);
      }),
    set: (handler) => {
      receive = handler;
    },
  });
  const wire = {
    messages,
    sent: (method) => messages.filter((m) => m.sent && m.message.method === method).map((m) => m.message),
    received: (method) => messages.filter((m) => !m.sent && m.message.method === method).map((m) => m.message),
    responseTo: (id) =>
      messages.find((m) => !m.sent && m.message.method === undefined && m.message.id === id)?.message,
    resultOf: (method) => {
      const request = wire.sent(method).at(-1);
      return request && wire.responseTo(request.id)?.result;
    },
  };
  return wire;
}
