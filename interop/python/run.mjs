// Runs the official Python SDK and fastmcp against parley, in both roles and over
// stdio and HTTP. See ../README.md.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { server } from "../lib/reference.mjs";
import { freePort } from "../lib/port.mjs";
import { Report, assert, brief, equal, skip, within } from "../lib/report.mjs";
import { serveHTTP } from "../lib/serve.mjs";
import { columns, peers, python, runClient, start } from "./clients.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const parley = process.env.PARLEY ? resolve(process.env.PARLEY) : resolve(here, "../../.tmp/parley");
const limit = 30_000;

// What the exit codes of parley mean.
const exit = { ok: 0, toolError: 1, connection: 3 };

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" }, // a part of a row's name: a revision, a version, a transport, a role
    trace: { type: "boolean", default: false }, // everything that the processes write, to standard error
  },
});

if (!existsSync(parley)) {
  console.error(`${parley} does not exist: go build -o .tmp/parley ./cmd/parley, or set PARLEY`);
  process.exit(2);
}

// The server of the first version crashes on a method that it does not know, such as
// the one that asks for its revision. If parley is told the revision, it does not ask.
const told = { ...peers[0], ways: ["stdio"], pin: "2024-11-05", remark: "told" };

// A server that has to be fetched or compiled first, such as those behind uvx or
// npx, answers the first message late. It must not be taken for another revision's.
const slow = {
  package: "mcp",
  version: "2.3.0",
  revision: "2026-07-28",
  ways: ["stdio"],
  remark: "slow",
  delay: 7,
  only: ["connect"],
};

const report = new Report("Python peer", columns);
const scratch = mkdtempSync(join(tmpdir(), "parley-interop-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));

const served = await serveHTTP(parley);
// All clients run at the same time, against one server.
const checks = Object.fromEntries(columns.map((column) => [column, column]));
const against = { report, parley, origin: served.origin, server, checks, trace: flags.trace };
await Promise.all(rowsOf("client", peers).map((client) => runClient({ ...against, ...client })));
// As many servers at a time as there are processors: Python is slow to start, and
// how long it may take is what the row "slow" is about.
const waiting = [...rowsOf("server", peers), ...rowsOf("server", [told, slow])];
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await runServer(next.peer, next.way, next.row);
  }),
);
await served.end();

report.print();
process.exit(report.failed > 0 || report.passed === 0 ? 1 : 0);

function rowsOf(role, peers) {
  const rows = [];
  for (const peer of peers) {
    for (const way of peer.ways ?? ["stdio", "http"]) {
      const parts = [peer.revision, `${peer.package} ${peer.version}`.padEnd(13), role, way, peer.remark];
      const label = parts.filter(Boolean).join(" ");
      if (!flags.only || label.includes(flags.only)) rows.push({ peer, way, row: report.row(label) });
    }
  }
  return rows;
}

/** runServer runs the checks of parley with a Python server. */
async function runServer(peer, way, row) {
  const modern = peer.revision === "2026-07-28";
  const elicits = peer.revision >= "2025-06-18";
  const notes = join(scratch, `${report.rows.indexOf(row)}.notes`);
  const script = peer.package === "fastmcp" ? "server_fastmcp.py" : "server.py";
  const command = [script, "--transport", way, "--notes", notes];
  let background;
  let target = ["--", python(peer), ...command];
  if (peer.delay) target = ["--", "sh", "-c", `sleep ${peer.delay}; exec "$@"`, "sh", ...target.slice(1)];
  let url = [];
  let last = { line: "", run: { stdout: "", stderr: "" } };
  row.context = () =>
    [
      `$ parley ${last.line}\n${`${last.run.stdout}${last.run.stderr}`.trim().slice(-2000)}`,
      background?.stderr && `the server's standard error ended with:\n${background.stderr.trim().slice(-1500)}`,
    ]
      .filter(Boolean)
      .join("\n");

  const serve = async () => {
    const port = await freePort();
    background = start(python(peer), [...command, "--port", String(port)], flags.trace && row.name);
    target = [];
    url = [`http://127.0.0.1:${port}/${way === "sse" ? "sse" : "mcp"}`];
    await listening(port, background);
  };
  // These releases no longer serve anybody after a client has ended its session, even
  // their own client (their CVE-2025-53365): every run gets a server of its own.
  const renew = async () => {
    if (!peer.mortal || way !== "http") return;
    background.child.kill("SIGKILL");
    await serve();
  };
  if (way !== "stdio") await serve();
  const launch = (verb, ...words) => {
    const pin = peer.pin ? ["--revision", peer.pin] : [];
    const args = [verb, ...pin, ...url, ...words, ...target];
    last = { line: args.join(" "), run: start(parley, args, flags.trace && row.name) };
    return last.run;
  };
  let used = false;
  const parleyRuns = async (wanted, verb, ...words) => {
    if (used) await renew();
    used = true;
    const run = launch(verb, ...words);
    run.child.stdin.end();
    const { code, signal } = await within(limit, run.ended, `end of parley ${verb}`);
    assert([wanted].flat().includes(code), `exit code: expected ${wanted}, got ${code ?? signal}`);
    return { output: `${run.stdout}\n${run.stderr}`, ...run };
  };
  const check = (column, run) => {
    if (peer.only && !peer.only.includes(column)) {
      row.cells[column] = "–";
      return true;
    }
    return report.check(row, column, 2 * limit, run);
  };

  const connected = await check("connect", async () => {
    const { stdout } = await parleyRuns(exit.ok, "info", "--output", "json");
    const info = JSON.parse(stdout);
    contains(JSON.stringify(info), "interop");
    contains(JSON.stringify(info), peer.revision);
  });
  if (!connected) {
    background?.child.kill("SIGKILL");
    return;
  }
  await check("list", async () => {
    const wanted = ["add", "count", "notes://today", "notes://{day}/all", "review", ...(elicits ? ["order"] : []), "ask"];
    const { stdout } = await parleyRuns(exit.ok, "list");
    for (const name of wanted) contains(stdout, name);
    const json = await parleyRuns(exit.ok, "list", "--output", "json");
    for (const name of wanted) contains(json.stdout, JSON.stringify(name));
  });
  await check("call", async () => {
    const { stdout } = await parleyRuns(exit.ok, "call", "add", "a=2", "b:=40");
    contains(stdout, "42");
  });
  await check("wrong args", async () => {
    const { stderr } = await parleyRuns(exit.toolError, "call", "add", "a=2");
    contains(stderr, "b");
    contains(stderr.toLowerCase(), "required");
  });
  await check("unknown tool", async () => {
    // Most of these servers answer with a failed result, not with a JSON-RPC error.
    const { stderr } = await parleyRuns([exit.toolError, exit.connection], "call", "no_such_tool");
    contains(stderr, "no_such_tool");
  });
  await check("read", async () => {
    const { stdout } = await parleyRuns(exit.ok, "read", "notes://today");
    equal(JSON.parse(stdout).note, "grüß dich", "content");
    const monday = await parleyRuns(exit.ok, "read", "notes://monday/all");
    contains(monday.stdout, "the notes of monday");
  });
  await check("prompt", async () => {
    const { stdout } = await parleyRuns(exit.ok, "prompt", "review", "code=x = 1", "language=python");
    contains(stdout, "Please review this python: x = 1");
  });
  await check("complete", async () => {
    if (peer.lacks?.includes("complete")) skip();
    const { stdout } = await parleyRuns(exit.ok, "complete", "prompt", "review", "language", "p");
    equal(stdout.trim().split(/\s+/).join(" "), "pascal perl python", "values");
  });
  await check("progress", async () => {
    const { stdout, stderr } = await parleyRuns(exit.ok, "call", "--trace", "count", "steps=4", "pause=0.1");
    contains(stdout, "counted to 4");
    const values = [...stderr.matchAll(/"notifications\/progress".*?"progress":([\d.]+)/g)].map((match) => Number(match[1]));
    equal(JSON.stringify(values), "[1,2,3,4]", "progress of the notifications");
  });
  await check("cancel", async () => {
    await renew();
    // On stdio, a copy of all that parley writes shows what it told the server.
    // The shell must end when the server does, and not wait for tee.
    const heard = join(scratch, `${report.rows.indexOf(row)}.heard`);
    const plain = target;
    if (way === "stdio") target = ["--", "sh", "-c", `tee '${heard}' | { "$@"; kill $$; }`, "sh", ...plain.slice(1)];
    const run = launch("call", "--trace", "count", "steps=400", "pause=0.05");
    target = plain;
    await within(limit / 2, seen(run, /notifications\/progress/), "first progress");
    const posted = () => [...background.stdout.matchAll(/"POST \S+ HTTP\/1\.1" 202/g)].length;
    const before = way === "stdio" ? 0 : posted();
    const cancelled = Date.now();
    run.child.kill("SIGINT");
    const { code } = await within(limit / 2, run.ended, "end of parley after SIGINT");
    assert(code !== 0, "parley ended as if the call had succeeded");
    // The end of a connection stops most servers, too, but it is not a cancellation
    // before 2026-07-28, and not on stdio: the server has to be told.
    if (way === "stdio") {
      contains(readFileSync(heard, "utf8"), '"notifications/cancelled"');
    } else if (!modern) {
      await within(limit / 3, until(() => posted() > before), "a message to the server about the cancellation");
    }
    // The tool would go on for 20 s; it writes this when it is cancelled.
    while (!(existsSync(notes) && readFileSync(notes, "utf8").includes("count was cancelled"))) {
      assert(Date.now() - cancelled < 10_000, "the tool was not cancelled");
      await sleep(50);
    }
  });
  await check("elicit", async () => {
    if (!elicits) skip();
    const answers = ["--answer", "name=Ada Lovelace", "--answer", "amount=7"];
    const { stdout } = await parleyRuns(exit.ok, "call", ...answers, "order");
    contains(stdout, "accept");
    contains(stdout, "Ada Lovelace");
    contains(stdout, "7");
    // There is nobody to ask: the tool must not be told that somebody agreed.
    const unanswered = await parleyRuns([exit.ok, exit.toolError], "call", "order");
    assert(!unanswered.stdout.includes("accept"), `an answer was made up: ${unanswered.stdout}`);
  });
  await check("sample", async () => {
    const sampler = ["--sampler", "node ../servers/sampler.mjs", "--yes-sample"];
    const { stdout } = await parleyRuns(exit.ok, "call", ...sampler, "ask", "text=Why is the sky blue?");
    contains(stdout, "the model said: You asked: Why is the sky blue?");
  });
  await check("end", async () => {
    if (way === "stdio") {
      const orphans = await leftBehind(notes);
      equal(orphans.join(), "", "server processes left behind");
      return;
    }
    if (modern || way === "sse") skip("there is no session to end, or its end is that of the connection");
    const deleted = () => [...`${background.stdout}${background.stderr}`.matchAll(/"DELETE \S+ HTTP\/1\.1" 2\d\d/g)].length;
    await renew();
    const before = peer.mortal ? 0 : deleted();
    await parleyRuns(exit.ok, "ping");
    await within(limit / 3, until(() => deleted() > before), "the end of the session in the server's log");
  });
  background?.child.kill("SIGTERM");
}

function contains(text, part) {
  assert(text.includes(part), `${brief(part)} is missing in the output`);
}

async function until(condition) {
  while (!condition()) await sleep(20);
}

/** seen waits for a text on the standard error of a run. */
function seen(run, pattern) {
  return Promise.race([
    until(() => pattern.test(run.stderr)),
    run.ended.then(({ code }) => {
      throw new Error(`parley ended with ${code} before`);
    }),
  ]);
}

/** leftBehind lists the processes that have a word on their command line, and do not end soon after parley. */
async function leftBehind(word) {
  for (const end = Date.now() + 5000; ; await sleep(50)) {
    const ps = start("ps", ["-eo", "pid=,args="]);
    await ps.ended;
    const there = ps.stdout.split("\n").filter((line) => line.includes(word));
    if (there.length === 0 || Date.now() > end) return there;
  }
}

async function listening(port, run) {
  const begun = Date.now();
  while (Date.now() - begun < limit && run.child.exitCode === null) {
    const up = await new Promise((done) => {
      const socket = createConnection(port, "127.0.0.1");
      socket.once("connect", () => done(true)).once("error", () => done(false));
      socket.once("connect", () => socket.destroy());
    });
    if (up) return;
    await sleep(100);
  }
}
