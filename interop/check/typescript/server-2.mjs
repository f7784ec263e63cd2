// A small server on @modelcontextprotocol/server 2.x: server-2.mjs 2 stdio|http
// Over HTTP, clients of the revisions before 2026-07-28 are served without sessions,
// which is the default of createMcpHandler.

import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from "@modelcontextprotocol/node";
import {
  McpServer,
  ResourceTemplate,
  acceptedContent,
  completable,
  createMcpHandler,
  inputRequired,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const way = process.argv[3];
const languages = ["pascal", "perl", "python", "ruby"];
const starting = (values) => (prefix) => values.filter((value) => value.startsWith(prefix ?? ""));
const text = (text) => ({ content: [{ type: "text", text }] });
const readOnly = { readOnlyHint: true, openWorldHint: false };
const order = z.object({ name: z.string(), amount: z.number().int().min(1).optional() });

let notes = "nothing yet";
let updated = () => {};

function make({ era }) {
  // Change notifications for this class are those of the era; the SDK serves
  // resources/subscribe of the earlier one only if a handler is set.
  const resources = era === "legacy" && way === "stdio" ? { subscribe: true, listChanged: true } : { subscribe: era === "modern", listChanged: true };
  const server = new McpServer({ name: "innocent", version: "1.0.0" }, { capabilities: { logging: {}, resources } });
  const watched = new Set();

  server.registerTool(
    "add",
    {
      description: "Adds two numbers.",
      annotations: readOnly,
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
  );
  server.registerTool(
    "count",
    {
      description: "Counts slowly and reports its progress.",
      annotations: readOnly,
      inputSchema: z.object({ steps: z.number().int().min(1).max(50).default(3) }),
    },
    async ({ steps }, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      for (let step = 1; step <= steps && !ctx.mcpReq.signal.aborted; step++) {
        await sleep(100);
        if (progressToken === undefined) continue;
        const params = { progressToken, progress: step, total: steps };
        await ctx.mcpReq.notify({ method: "notifications/progress", params });
      }
      await ctx.mcpReq.log("info", { counted: steps }, "count");
      return text(`counted to ${steps}`);
    },
  );
  // Where requests of the earlier era are served without sessions, nobody can be asked.
  if (era === "modern" || way === "stdio") registerQuestions(server, era);
  server.registerTool("remember", { description: "Writes a note.", inputSchema: z.object({ note: z.string() }) }, async ({ note }) => {
    notes = note;
    updated("notes://today");
    // On stdio the SDK delivers this to whoever listens; in a session of the earlier era it is sent as it is.
    if (way === "stdio" && (era === "modern" || watched.has("notes://today"))) {
      await server.server.sendResourceUpdated({ uri: "notes://today" });
    }
    return text("noted");
  });

  server.registerResource("today", "notes://today", { description: "The notes of today", mimeType: "text/plain" }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: notes }],
  }));
  const complete = { day: starting(["monday", "tuesday"]) };
  const template = new ResourceTemplate("notes://{day}/all", { list: undefined, complete });
  server.registerResource("day", template, { description: "The notes of a day" }, (uri, { day }) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: `the notes of ${day}` }],
  }));
  const argsSchema = z.object({ code: z.string(), language: completable(z.string(), starting(languages)) });
  server.registerPrompt("review", { description: "Asks for a review", argsSchema }, ({ code, language }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Please review this ${language}: ${code}` } }],
  }));

  if (resources.subscribe && era === "legacy") {
    server.server.setRequestHandler("resources/subscribe", ({ params }) => {
      watched.add(params.uri);
      return {};
    });
    server.server.setRequestHandler("resources/unsubscribe", ({ params }) => {
      watched.delete(params.uri);
      return {};
    });
  }
  return server;
}

function registerQuestions(server, era) {
  // In the new era the SDK looks by itself.
  const require = (capability) => {
    const can = server.server.getClientCapabilities()?.[capability];
    const able = can && (capability !== "elicitation" || can.form || !can.url);
    if (era === "legacy" && !able) throw new Error(`the client has no ${capability}`);
  };
  server.registerTool(
    "ask",
    { description: "Asks the client's model.", annotations: readOnly, inputSchema: z.object({ question: z.string() }) },
    async ({ question }, ctx) => {
      require("sampling");
      const params = { messages: [{ role: "user", content: { type: "text", text: question } }], maxTokens: 50 };
      const said = era === "legacy" ? await ctx.mcpReq.requestSampling(params) : ctx.mcpReq.inputResponses?.model;
      if (!said) return inputRequired({ inputRequests: { model: inputRequired.createMessage(params) } });
      return text(`the model said: ${JSON.stringify(said.content)}`);
    },
  );
  server.registerTool(
    "order",
    { description: "Asks the user what to order.", annotations: readOnly, inputSchema: z.object({}) },
    async (_, ctx) => {
      require("elicitation");
      const message = "What do you want?";
      if (era === "legacy") {
        const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
        const said = await ctx.mcpReq.elicitInput({ message, requestedSchema });
        return text(`${said.action} ${JSON.stringify(said.content ?? {})}`);
      }
      if (ctx.mcpReq.inputResponses?.order) {
        return text(JSON.stringify(acceptedContent(ctx.mcpReq.inputResponses, "order", order) ?? "nothing"));
      }
      return inputRequired({ inputRequests: { order: inputRequired.elicit({ message, requestedSchema: order }) } });
    },
  );
}

if (way === "stdio") {
  serveStdio(make);
} else {
  const handler = createMcpHandler(make);
  updated = (uri) => handler.notify.resourceUpdated(uri);
  const serve = toNodeHandler(handler);
  const hosts = localhostHostValidation();
  const origins = localhostOriginValidation();
  const listener = createServer((req, res) => {
    if (!hosts(req, res) || !origins(req, res)) return;
    if (new URL(req.url, "http://localhost").pathname === "/mcp") return serve(req, res);
    res.writeHead(404).end();
  });
  listener.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${listener.address().port}/mcp`);
  });
}
