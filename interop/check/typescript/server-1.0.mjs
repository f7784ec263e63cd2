// The same small server on SDK 1.0, which has no McpServer, no annotations and no
// Streamable HTTP: server-1.0.mjs 1.0 stdio|sse

import { setTimeout as sleep } from "node:timers/promises";
import { Server } from "sdk-1.0/server/index.js";
import { SSEServerTransport } from "sdk-1.0/server/sse.js";
import { StdioServerTransport } from "sdk-1.0/server/stdio.js";
import * as types from "sdk-1.0/types.js";

import { serveHTTP } from "./http.mjs";

const way = process.argv[3];
const levels = types.LoggingLevelSchema.options;
const languages = ["pascal", "perl", "python", "ruby"];
const string = { type: "string" };
const number = { type: "number" };
const text = (text) => ({ content: [{ type: "text", text }] });
const tool = (name, description, properties, required = Object.keys(properties)) => ({
  name,
  description,
  inputSchema: { type: "object", properties, required },
});
const tools = [
  tool("add", "Adds two numbers.", { a: number, b: number }),
  tool("count", "Counts slowly and reports its progress.", { steps: { type: "integer", minimum: 1, maximum: 50, default: 3 } }, []),
  tool("ask", "Asks the client's model.", { question: string }),
  tool("remember", "Writes a note.", { note: string }),
];

function make() {
  const capabilities = { logging: {}, prompts: {}, resources: { subscribe: true }, tools: {} };
  const server = new Server({ name: "innocent", version: "1.0.0" }, { capabilities });
  let notes = "nothing yet";
  let level = "debug";
  const watched = new Set();

  async function count(steps, progressToken) {
    for (let step = 1; step <= steps; step++) {
      await sleep(100);
      if (progressToken === undefined) continue;
      const params = { progressToken, progress: step, total: steps };
      await server.notification({ method: "notifications/progress", params });
    }
    if (levels.indexOf("info") >= levels.indexOf(level)) {
      await server.sendLoggingMessage({ level: "info", logger: "count", data: { counted: steps } });
    }
    return text(`counted to ${steps}`);
  }

  server.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }) => {
    const args = params.arguments ?? {};
    switch (params.name) {
      case "add":
        if (typeof args.a !== "number" || typeof args.b !== "number") return { ...text("a and b are numbers"), isError: true };
        return text(String(args.a + args.b));
      case "count":
        if (args.steps !== undefined && !(Number.isInteger(args.steps) && args.steps >= 1 && args.steps <= 50)) {
          return { ...text("steps is an integer from 1 to 50"), isError: true };
        }
        return count(args.steps ?? 3, params._meta?.progressToken);
      case "ask": {
        if (typeof args.question !== "string") return { ...text("question is a string"), isError: true };
        if (!server.getClientCapabilities()?.sampling) return { ...text("there is no model"), isError: true };
        const messages = [{ role: "user", content: { type: "text", text: args.question } }];
        const said = await server.createMessage({ messages, maxTokens: 50 });
        return text(`the model said: ${JSON.stringify(said.content)}`);
      }
      case "remember":
        if (typeof args.note !== "string") return { ...text("note is a string"), isError: true };
        notes = args.note;
        if (watched.has("notes://today")) await server.sendResourceUpdated({ uri: "notes://today" });
        return text("noted");
      default:
        throw new types.McpError(types.ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    }
  });

  server.setRequestHandler(types.ListResourcesRequestSchema, () => ({
    resources: [{ uri: "notes://today", name: "today", mimeType: "text/plain" }],
  }));
  server.setRequestHandler(types.ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: "notes://{day}/all", name: "day" }],
  }));
  server.setRequestHandler(types.ReadResourceRequestSchema, ({ params: { uri } }) => {
    const day = /^notes:\/\/([^/]+)\/all$/.exec(uri)?.[1];
    if (uri !== "notes://today" && !day) throw new types.McpError(-32002, `Resource not found: ${uri}`);
    return { contents: [{ uri, mimeType: "text/plain", text: day ? `the notes of ${day}` : notes }] };
  });
  server.setRequestHandler(types.SubscribeRequestSchema, ({ params }) => {
    watched.add(params.uri);
    return {};
  });
  server.setRequestHandler(types.UnsubscribeRequestSchema, ({ params }) => {
    watched.delete(params.uri);
    return {};
  });

  const needed = (name) => ({ name, required: true });
  server.setRequestHandler(types.ListPromptsRequestSchema, () => ({
    prompts: [{ name: "review", description: "Asks for a review", arguments: [needed("code"), needed("language")] }],
  }));
  server.setRequestHandler(types.GetPromptRequestSchema, ({ params }) => {
    if (params.name !== "review") throw new types.McpError(types.ErrorCode.InvalidParams, `Unknown prompt: ${params.name}`);
    const { code, language } = params.arguments ?? {};
    if (code === undefined || language === undefined) throw new types.McpError(types.ErrorCode.InvalidParams, "code and language are required");
    return { messages: [{ role: "user", content: { type: "text", text: `Please review this ${language}: ${code}` } }] };
  });
  server.setRequestHandler(types.CompleteRequestSchema, ({ params }) => ({
    completion: { values: languages.filter((language) => language.startsWith(params.argument.value)) },
  }));
  server.setRequestHandler(types.SetLevelRequestSchema, ({ params }) => {
    level = params.level;
    return {};
  });
  return server;
}

if (way === "stdio") await make().connect(new StdioServerTransport());
else await serveHTTP("/sse", make, { SSE: SSEServerTransport });
