// A small server on McpServer of SDK 1.12 to 1.x: server-1.mjs VERSION stdio|http|sse

import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod-3";

import { serveHTTP } from "./http.mjs";

const [version, way] = process.argv.slice(2);
const sdk = (path) => import(`sdk-${version}/${path}`);
const { McpServer, ResourceTemplate } = await sdk("server/mcp.js");
const { completable } = await sdk("server/completable.js");
const { StdioServerTransport } = await sdk("server/stdio.js");
const { StreamableHTTPServerTransport } = await sdk("server/streamableHttp.js");
const { SSEServerTransport } = await sdk("server/sse.js");
const types = await sdk("types.js");

const levels = types.LoggingLevelSchema.options;
const languages = ["pascal", "perl", "python", "ruby"];
const starting = (values) => (prefix) => values.filter((value) => value.startsWith(prefix ?? ""));
const text = (text) => ({ content: [{ type: "text", text }] });
const readOnly = { readOnlyHint: true, openWorldHint: false };

function make() {
  const capabilities = { logging: {}, resources: { subscribe: true, listChanged: true } };
  const server = new McpServer({ name: "innocent", version: "1.0.0" }, { capabilities });
  let notes = "nothing yet";
  let level = "debug";
  const watched = new Set();

  server.registerTool(
    "add",
    {
      description: "Adds two numbers.",
      annotations: readOnly,
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { sum: z.number() },
    },
    ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
  );
  server.registerTool(
    "count",
    {
      description: "Counts slowly and reports its progress.",
      annotations: readOnly,
      inputSchema: { steps: z.number().int().min(1).max(50).default(3) },
    },
    async ({ steps }, extra) => {
      const progressToken = extra._meta?.progressToken;
      for (let step = 1; step <= steps && !extra.signal.aborted; step++) {
        await sleep(100);
        if (progressToken === undefined) continue;
        const params = { progressToken, progress: step, total: steps };
        await extra.sendNotification({ method: "notifications/progress", params });
      }
      if (levels.indexOf("info") >= levels.indexOf(level)) {
        const params = { level: "info", logger: "count", data: { counted: steps } };
        await extra.sendNotification({ method: "notifications/message", params });
      }
      return text(`counted to ${steps}`);
    },
  );
  server.registerTool(
    "ask",
    { description: "Asks the client's model.", annotations: readOnly, inputSchema: { question: z.string() } },
    async ({ question }, extra) => {
      if (!server.server.getClientCapabilities()?.sampling) return { ...text("there is no model"), isError: true };
      const params = { messages: [{ role: "user", content: { type: "text", text: question } }], maxTokens: 50 };
      const said = await extra.sendRequest({ method: "sampling/createMessage", params }, types.CreateMessageResultSchema);
      return text(`the model said: ${JSON.stringify(said.content)}`);
    },
  );
  if (types.ElicitResultSchema) {
    server.registerTool("order", { description: "Asks the user what to order.", annotations: readOnly, inputSchema: {} }, async (_, extra) => {
      const asks = server.server.getClientCapabilities()?.elicitation;
      if (!asks || (asks.url && !asks.form)) return { ...text("there is nobody to ask"), isError: true };
      const properties = { name: { type: "string", title: "Name" }, amount: { type: "integer", minimum: 1 } };
      const requestedSchema = { type: "object", properties, required: ["name"] };
      const params = { message: "What do you want?", requestedSchema };
      const said = await extra.sendRequest({ method: "elicitation/create", params }, types.ElicitResultSchema);
      return text(`${said.action} ${JSON.stringify(said.content ?? {})}`);
    });
  }
  server.registerTool("remember", { description: "Writes a note.", inputSchema: { note: z.string() } }, async ({ note }) => {
    notes = note;
    if (watched.has("notes://today")) await server.server.sendResourceUpdated({ uri: "notes://today" });
    return text("noted");
  });

  server.resource("today", "notes://today", { description: "The notes of today", mimeType: "text/plain" }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: notes }],
  }));
  const complete = { day: starting(["monday", "tuesday"]) };
  const template = new ResourceTemplate("notes://{day}/all", { list: undefined, complete });
  server.resource("day", template, { description: "The notes of a day" }, (uri, { day }) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: `the notes of ${day}` }],
  }));
  const args = { code: z.string(), language: completable(z.string(), starting(languages)) };
  server.prompt("review", "Asks for a review", args, ({ code, language }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Please review this ${language}: ${code}` } }],
  }));

  server.server.setRequestHandler(types.SetLevelRequestSchema, ({ params }) => {
    level = params.level;
    return {};
  });
  server.server.setRequestHandler(types.SubscribeRequestSchema, ({ params }) => {
    watched.add(params.uri);
    return {};
  });
  server.server.setRequestHandler(types.UnsubscribeRequestSchema, ({ params }) => {
    watched.delete(params.uri);
    return {};
  });
  return server;
}

if (way === "stdio") {
  await make().connect(new StdioServerTransport());
} else {
  await serveHTTP(way === "sse" ? "/sse" : "/mcp", make, {
    Streamable: StreamableHTTPServerTransport,
    SSE: SSEServerTransport,
    // With a list of origins, 1.17 also refuses clients that are no browsers, and send none.
    guard: { 1.17: ["host"], 1.32: ["host", "origin"] }[version],
  });
}
