// The official Python SDK and fastmcp as clients: which versions there are, and how
// client.py is run with one of them.

import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { assert, skip, within } from "../lib/report.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const limit = 30_000;

// The last release of each revision, and the newest release of both packages in
// the two ways in which they are used: `mode` is how it negotiates as a client, and
// `pin` the revision that parley must speak when it is the server.
export const peers = [
  {
    package: "mcp",
    version: "1.8.1",
    revision: "2024-11-05",
    // HTTP+SSE is the transport of this revision; this release has Streamable HTTP, too.
    ways: ["stdio", "sse", "http"],
    mortal: true,
  },
  {
    package: "mcp",
    version: "1.9.4",
    revision: "2025-03-26",
    mortal: true,
    // Its server completes, but cannot declare it, which this revision demands.
    lacks: ["complete"],
  },
  { package: "mcp", version: "1.23.0", revision: "2025-06-18" },
  { package: "mcp", version: "1.30.0", revision: "2025-11-25" },
  { package: "mcp", version: "2.3.0", revision: "2026-07-28", mode: "auto" },
  { package: "mcp", version: "2.3.0", revision: "2025-11-25", mode: "legacy", pin: "2025-11-25" },
  { package: "fastmcp", version: "4.1.2", revision: "2026-07-28", mode: "auto" },
  { package: "fastmcp", version: "4.1.2", revision: "2025-11-25", mode: "legacy", pin: "2025-11-25" },
];

/** The checks of client.py, in the order in which they are made. */
export const columns = [
  "connect",
  "list",
  "call",
  "wrong args",
  "unknown tool",
  "read",
  "prompt",
  "complete",
  "progress",
  "cancel",
  "elicit",
  "sample",
  "end",
];

const started = new Set();
process.once("exit", () => {
  for (const child of started) child.kill("SIGKILL");
});

export function python(peer) {
  return join(here, ".venv", `${peer.package}-${peer.version}`, "bin", "python");
}

/** start runs a command in this folder and keeps what it writes. With a label, it ends on standard error. */
export function start(command, args, label) {
  const child = spawn(command, args, { cwd: here, stdio: ["pipe", "pipe", "pipe"] });
  started.add(child);
  const run = { child, stdout: "", stderr: "", failed: undefined };
  // A process that is gone is noticed by its exit; its input is lost anyway.
  child.stdin.on("error", () => {});
  child.on("error", (error) => (run.failed = error));
  child.stdout.setEncoding("utf8").on("data", (chunk) => (run.stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk) => (run.stderr += chunk));
  run.ended = new Promise((done) => {
    child.on("exit", (code, signal) => {
      started.delete(child);
      // Its pipes may be held by a process that outlives it.
      setTimeout(done, 2000, { code, signal }).unref();
    });
    child.on("close", (code, signal) => done({ code, signal }));
  });
  if (label) run.ended.then(() => console.error(`${label}\n$ ${args.join(" ")}\n${run.stdout}${run.stderr}`));
  return run;
}

/**
 * runClient runs the checks of a Python client against `parley`, or against what is at an
 * origin, and records how they ended. `server` is what it expects; `checks` maps what it
 * checks to the columns of the report, in order.
 */
export async function runClient({ report, row, peer, way, parley, origin, server, checks, trace }) {
  const url = { http: "/mcp", sse: "/sse" }[way];
  const args = ["client.py", "--package", peer.package, "--transport", way, "--revision", peer.revision];
  args.push("--target", url ? new URL(url, origin).href : parley, "--server", JSON.stringify(server));
  if (peer.mode) args.push("--mode", peer.mode);
  const run = start(python(peer), args, trace && row.name);
  row.context = () => run.stderr && `its standard error ended with:\n${run.stderr.trim().slice(-1500)}`;

  const outcomes = {};
  let endTurn = () => {};
  let read = 0;
  run.child.stdout.on("data", () => {
    const lines = run.stdout.split("\n");
    for (; read < lines.length - 1; read++) {
      const line = JSON.parse(lines[read]);
      if (line.column) outcomes[line.column] = line;
      if (line.turn === false) endTurn();
      if (line.turn === true && way === "stdio") run.child.stdin.write("\n");
      else if (line.turn === true) {
        inTurn(() => {
          run.child.stdin.write("\n");
          return Promise.race([new Promise((done) => (endTurn = done)), run.ended]);
        });
      }
    }
  });
  await within(4 * limit, run.ended, "end of the client").catch(() => run.child.kill("SIGKILL"));
  for (const [checked, column] of Object.entries(checks)) {
    const outcome = outcomes[checked];
    // Failures that follow from the first one would only hide it.
    if (!outcome && outcomes.connect?.passed === false) continue;
    await report.check(row, column, limit, () => {
      assert(outcome, "the client did not get this far");
      if (outcome.skipped) skip();
      assert(outcome.passed, outcome.text);
    });
    if (!outcome) break;
  }
}

/** inTurn runs one function after the other. */
function inTurn(run) {
  const turn = (inTurn.last ?? Promise.resolve()).then(run);
  inTurn.last = turn.catch(() => {});
  return turn;
}
