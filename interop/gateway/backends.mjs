// The servers behind the gateway, and what their clients can expect of them.

import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { behind } from "../lib/reference.mjs";
import { peers, python } from "../python/clients.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const rust = resolve(here, "../../.tmp/interop-rust/debug/peer");
const script = (name) => join(here, `../servers/node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);

/** hasRust says whether the server in Rust was built, for which a machine needs Cargo. */
export const hasRust = existsSync(rust);

/** configure writes the configuration of a gateway, made of an mcp.json, and returns its name. `reference` is the origin of the reference server. */
export function configure(parley, scratch, reference) {
  const node = process.execPath;
  const fastmcp = peers.find((peer) => peer.package === "fastmcp");
  const notes = (name) => join(scratch, `${name}.notes`);
  const mcpServers = {
    everything: { command: node, args: [script("everything"), "stdio"] },
    filesystem: { command: node, args: [script("filesystem"), scratch] },
    memory: { command: node, args: [script("memory")], env: { MEMORY_FILE_PATH: join(scratch, "memory.jsonl") } },
    ref: { type: "http", url: `${reference}/mcp` },
    fastmcp: { command: python(fastmcp), args: [join(here, "../python/server_fastmcp.py"), "--notes", notes("fastmcp")] },
    ...(hasRust && { rmcp: { command: rust, args: ["server", "stdio", notes("rmcp")] } }),
    down: { command: "no-such-program" },
  };
  const [theirs, file] = [join(scratch, "mcp.json"), join(scratch, "gateway.yaml")];
  writeFileSync(theirs, JSON.stringify({ mcpServers }));
  execFileSync(parley, ["gateway", "init", "--from", theirs, file], { stdio: "pipe" });
  // Servers in Python and Node are slow to start on a busy machine, and lists go on without them.
  appendFileSync(file, "\nlist_timeout: 1m\n");
  return file;
}

/** expected is what clients see: the reference server among others, a tool of each of which says something known. */
export function expected(file, scratch) {
  return {
    ...behind("ref"),
    stdio: ["gateway", file, "--stdio"],
    patience: 60, // seconds, in which seven servers start
    others: [
      { column: "call", name: "everything__echo", arguments: { message: "2 + 2" }, contains: "Echo: 2 + 2" },
      { column: "files", name: "filesystem__list_directory", arguments: { path: scratch }, contains: "mcp.json" },
      { column: "memory", name: "memory__read_graph", arguments: {}, contains: "entities" },
      { column: "fastmcp", name: "fastmcp__add", arguments: { a: 2, b: 40 }, contains: "42" },
      ...(hasRust ? [{ column: "rmcp", name: "rmcp__add", arguments: { a: 2, b: 40 }, contains: "42" }] : []),
      { column: "down", name: "down__anything", arguments: {}, contains: 'the server "down" is not available', fails: true },
    ],
  };
}
