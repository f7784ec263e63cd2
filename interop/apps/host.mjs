// The host's page: the official client and AppBridge, bundled for the browser. The
// suite drives it through the global `hosting`.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, PostMessageTransport, RESOURCE_MIME_TYPE, buildAllowAttribute, getToolUiResourceUri } from "@modelcontextprotocol/ext-apps/app-bridge";

const extension = "io.modelcontextprotocol/ui";
const identity = { name: "interop-host", version: "1.0.0" };

let client;
let bridge;
let frame;

const seen = { sizes: [], contexts: [] };

/** connect returns what the client learns of the server. */
async function connect(url, mode) {
  const capabilities = { extensions: { [extension]: { mimeTypes: [RESOURCE_MIME_TYPE] } } };
  client = new Client(identity, { capabilities, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { tools } = await client.listTools();
  return {
    revision: client.getNegotiatedProtocolVersion?.(),
    extension: client.getServerCapabilities().extensions?.[extension],
    apps: Object.fromEntries(tools.map((tool) => [tool.name, getToolUiResourceUri(tool)]).filter(([, uri]) => uri)),
  };
}

/** read returns the page, as the official host checks it. */
async function read(uri) {
  const { contents } = await client.readResource({ uri });
  const [{ mimeType, text, _meta }] = contents;
  return { count: contents.length, mimeType, html: text, ui: _meta?.ui };
}

/** show shows the app of a tool and calls the tool. */
async function show({ sandbox, html, ui, name, args, hostContext }) {
  frame = document.querySelector("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-same-origin");
  frame.setAttribute("allow", buildAllowAttribute(ui?.permissions));
  const { tools } = await client.listTools();
  const tool = tools.find((candidate) => candidate.name === name);
  bridge = new AppBridge(client, identity, { serverTools: {}, updateModelContext: { text: {} }, logging: {} }, { hostContext: { toolInfo: { tool }, ...hostContext } });
  bridge.onupdatemodelcontext = async (params) => {
    seen.contexts.push(params);
    return {};
  };
  bridge.addEventListener("sizechange", (size) => {
    seen.sizes.push(size);
    frame.style.height = `${size.height}px`;
  });
  const initialized = new Promise((done) => bridge.addEventListener("initialized", done));
  const ready = new Promise((done) => {
    addEventListener("message", ({ source, data }) => {
      if (source === frame.contentWindow && data?.method === "ui/notifications/sandbox-proxy-ready") done();
    });
  });
  frame.src = sandbox;
  await ready;
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await bridge.sendSandboxResourceReady({ html, csp: ui?.csp, permissions: ui?.permissions });
  await initialized;
  await bridge.sendToolInput({ arguments: args });
  const result = await client.callTool({ name, arguments: args });
  await bridge.sendToolResult(result);
  return { app: bridge.getAppVersion(), capabilities: bridge.getAppCapabilities(), result };
}

globalThis.hosting = {
  seen,
  connect,
  read,
  show,
  result: (result) => bridge.sendToolResult(result),
  cancel: () => bridge.sendToolCancelled({ reason: "the user" }),
  context: (context) => bridge.setHostContext(context),
  teardown: () => bridge.teardownResource({}),
  close: () => client.close(),
};
