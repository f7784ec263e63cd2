// Serves one McpServer for each session of SDK 1.x over HTTP, as the examples in the
// SDK do with express: Streamable HTTP at /mcp and HTTP+SSE at /sse, where it has them.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

/**
 * serveHTTP prints its URL on standard output. `make` returns a server to connect;
 * `Streamable` and `SSE` are the classes of transports that the version has, `guard`
 * names what it can look at against DNS rebinding: its documentation advises that.
 */
export async function serveHTTP(path, make, { Streamable, SSE, guard = [] }) {
  const sessions = new Map();
  let host = "";

  const guarding = () => ({
    ...(guard.length > 0 && { enableDnsRebindingProtection: true }),
    ...(guard.includes("host") && { allowedHosts: [host] }),
    ...(guard.includes("origin") && { allowedOrigins: [`http://${host}`] }),
  });

  async function streamable(req, res) {
    const known = sessions.get(req.headers["mcp-session-id"]);
    if (known) return known.handleRequest(req, res);
    if (req.headers["mcp-session-id"]) return refuse(res, 404, -32001, "Session not found");
    const body = await bodyOf(req);
    if (body?.method !== "initialize") return refuse(res, 400, -32000, "Bad Request: No valid session ID provided");
    const transport = new Streamable({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => sessions.set(id, transport),
      ...guarding(),
    });
    transport.onclose = () => sessions.delete(transport.sessionId);
    await make().connect(transport);
    await transport.handleRequest(req, res, body);
  }

  async function sse(req, res, url) {
    if (req.method === "GET") {
      const transport = new SSE("/messages", res, guarding());
      sessions.set(transport.sessionId, transport);
      res.on("close", () => sessions.delete(transport.sessionId));
      await make().connect(transport);
      return;
    }
    const transport = sessions.get(url.searchParams.get("sessionId"));
    if (!transport) return refuse(res, 404, -32001, "Session not found");
    await transport.handlePostMessage(req, res);
  }

  const listener = createServer(async (req, res) => {
    const url = new URL(req.url, `http://${host}`);
    try {
      if (Streamable && url.pathname === "/mcp") await streamable(req, res);
      else if (SSE && ["/sse", "/messages"].includes(url.pathname)) await sse(req, res, url);
      else refuse(res, 404, -32000, "Not Found");
    } catch (error) {
      console.error(error);
      if (!res.headersSent) refuse(res, 500, -32603, "Internal server error");
    }
  });
  await new Promise((done) => listener.listen(Number(process.env.PORT ?? 0), "127.0.0.1", done));
  host = `127.0.0.1:${listener.address().port}`;
  console.log(`http://${host}${path}`);
}

/** The parsed body; one that is not JSON is answered by the transport as undefined. */
async function bodyOf(req) {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

function refuse(res, status, code, message) {
  res.writeHead(status, { "content-type": "application/json" });
  res.end(JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null }));
}
