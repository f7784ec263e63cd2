// Runs tasks of other people's clients against `parley serve`, and of `parley` and its
// SDK against their servers, in both eras. See ../README.md.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { outcomes, start } from "../lib/process.mjs";
import { server } from "../lib/reference.mjs";
import { Report, assert, brief, equal, skip, within } from "../lib/report.mjs";
import { serveHTTP } from "../lib/serve.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const built = (name) => resolve(here, "../../.tmp", name);
const parley = process.env.PARLEY ? resolve(process.env.PARLEY) : built("parley");
const ours = built("interop-tasks");
const rust = built("interop-rust/debug/peer");
const python = (version) => resolve(here, `../python/.venv/${version}/bin/python`);
const file = (name) => join(here, name);
const limit = 60_000;
const atATime = 4;

// The checks by `parley`; those before them are made by a client in the peer's language,
// or by that in ours/.
const program = ["call", "detach"];
const columns = ["connect", "result", "poll", "list", "cancel", "ask", "failure", "sample", "error", "unknown", "notify", "apart", "end", ...program];

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" }, // a part of a row's name
    trace: { type: "boolean", default: false }, // everything that the processes write, to standard error
  },
});

// What a peer cannot do, by column; `stdio` and `http` hold only there.
const never = { list: "2026-07-28 has no list of tasks", apart: "2026-07-28 has no tasks of clients" };
const unheard = "fastmcp and rmcp neither send nor take notifications of the states of tasks";
const owned = "servers of the official SDKs 1.x know tasks only in the session that made them";
const peers = [
  {
    name: "TypeScript sdk 1.32.2",
    revision: "2025-11-25",
    client: { command: ["node", file("client_sdk.mjs")] },
    server: { command: ["node", file("server_sdk.mjs")], lacks: { error: "tasks of the TypeScript SDK cannot end with an error of the protocol", detach: owned } },
  },
  { name: "TypeScript ext-tasks 0.2.2", revision: "2025-11-25", client: { command: ["node", file("client_ext.mjs")] } },
  { name: "TypeScript ext-tasks 0.2.2", revision: "2026-07-28", client: { command: ["node", file("client_ext.mjs")], lacks: never } },
  {
    name: "Python mcp 1.30.0",
    revision: "2025-11-25",
    client: { command: [python("mcp-1.30.0"), "-W", "ignore", file("client_mcp.py")] },
    server: { command: [python("mcp-1.30.0"), "-W", "ignore", file("server_mcp.py")], lacks: { detach: owned } },
  },
  {
    name: "Python fastmcp 4.1.2",
    revision: "2026-07-28",
    client: { command: [python("fastmcp-4.1.2"), file("client_fastmcp.py")], lacks: { ...never, sample: "the client of fastmcp answers no questions for a model", notify: unheard } },
    server: { command: [python("fastmcp-4.1.2"), file("server_fastmcp.py")], lacks: { ...never, notify: unheard } },
  },
  {
    name: "Rust rmcp 3.11.0",
    revision: "2026-07-28",
    client: { command: [rust, "tasks"], lacks: { ...never, notify: unheard } },
    server: { command: [rust, "tasks"], lacks: { ...never, notify: unheard } },
  },
];

for (const needed of [parley, ours]) {
  if (!existsSync(needed)) {
    console.error(`${needed} does not exist: interop/run.sh builds it`);
    process.exit(2);
  }
}
const report = new Report("tasks", columns);
const scratch = mkdtempSync(join(tmpdir(), "parley-interop-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));
const served = await serveHTTP(parley);
const asking = start(ours, ["server", "http"]);
const places = {
  http: { parley: { url: `${served.origin}/mcp` }, ours: { url: await asking.told(limit) } },
  stdio: { parley: { command: [parley, ...server.stdio] }, ours: { command: [ours, "server", "stdio"] } },
};

const runs = [];
for (const peer of peers) {
  if (peer.name.startsWith("Rust") && !existsSync(rust)) {
    report.note(`not run: ${peer.name}, because it is not built`);
    continue;
  }
  for (const role of ["client", "server"].filter((role) => peer[role])) {
    for (const way of ["stdio", "http"]) {
      const name = `${peer.name.padEnd(26)} ${role} ${way.padEnd(5)} ${peer.revision}`;
      if (flags.only && !name.includes(flags.only)) continue;
      const row = report.row(name);
      const run = { row, way, revision: peer.revision, command: peer[role].command, lacks: { ...peer[role].lacks } };
      for (const [column, why] of Object.entries(run.lacks)) report.note(`${column}: ${why}`);
      if (role === "client") Object.assign(run.lacks, { call: "", detach: "" }); // is for `parley`
      if (role === "client" && way === "http") run.lacks.list ??= "nobody is known there whose tasks could be listed";
      if (role === "server" && way === "stdio") run.lacks.detach ??= "a server on standard input and output ends with its client";
      runs.push(() => (role === "client" ? runClient(run) : runServer(run)));
    }
  }
}
// A few at a time: they mostly wait for the intervals at which they poll.
await Promise.all(
  Array.from({ length: atATime }, async () => {
    for (let run; (run = runs.shift()); ) await run();
  }),
);
await served.end();
report.print();
process.exit(report.failed > 0 || report.passed === 0 ? 1 : 0);

/** runClient has a peer check our servers, and records what it says. */
async function runClient({ row, way, revision, command, lacks }) {
  const expected = { revision, annual: server.annual, lacks: Object.keys(lacks), ...places[way] };
  await judged(row, [...command, "client", way, JSON.stringify(expected)], lacks);
  for (const column of program) await check(row, column, lacks);
}

/** runServer has our client check a peer, and then the program. */
async function runServer({ row, way, revision, command, lacks }) {
  const line = [...command, "server", way, join(scratch, "notes")];
  const background = way === "http" && start(line[0], line.slice(1));
  const url = background && [await background.told(limit)];
  await judged(row, [ours, "client", revision, ...(url || line)], lacks, { SKIP: Object.keys(lacks).join() });
  const target = { before: ["--revision", revision, ...(url || [])], after: url ? [] : ["--", ...line] };
  await check(row, "call", lacks, async () => {
    const { stdout } = await run(row, target, "call", "order", "--answer", "name=Ada", "--answer", "amount=7");
    equal(stdout, "Ada wants 7\n", "the result");
  });
  await check(row, "detach", lacks, () => detach(row, target));
  background?.child?.kill("SIGTERM");
  if (flags.trace && background) console.error(`$ ${background.line}\n${background.stderr}`);
}

/** detach leaves tasks to the server, and comes back to them in other processes. */
async function detach(row, target) {
  const counting = await detached(row, target, "count", "steps:=3", "pause:=0.05");
  equal((await run(row, {}, "task", "wait", counting)).stdout, "counted to 3\n", "the result");
  const ordering = await detached(row, target, "order");
  await run(row, {}, "task", "wait", ordering, "--answer", "name=Ada", "--answer", "amount=7");
  includes((await run(row, {}, "task", "show", ordering)).stdout, "completed");
  const endless = await detached(row, target, "count", "steps:=100000", "pause:=0.05");
  includes((await run(row, {}, "task", "show", endless)).stdout, "working");
  includes((await run(row, {}, "task", "list")).stdout, endless);
  await run(row, {}, "task", "cancel", endless);
  const { code, stderr } = await started(row, {}, "task", "wait", endless);
  equal(code, 3, "the exit code of waiting for a cancelled task");
  includes(stderr, "cancelled");
}

async function detached(row, target, ...words) {
  return (await run(row, target, "call", ...words, "--detach")).stdout.trim();
}

async function run(row, target, ...words) {
  const ended = await started(row, target, ...words);
  equal(ended.code, 0, `the exit code of parley ${words.join(" ")}`);
  return ended;
}

/** started runs `parley`, whose tasks the row has for itself. */
async function started(row, { before = [], after = [] }, verb, ...words) {
  const state = join(scratch, String(report.rows.indexOf(row)));
  const ran = start(parley, [verb, ...before, ...words, ...after], { XDG_STATE_HOME: state });
  ran.child.stdin.end();
  const { code } = await within(limit, ran.ended, `end of parley ${verb}`);
  tell(row, ran);
  return { ...ran, code };
}

/** judged runs a client that writes its own outcomes. */
async function judged(row, line, lacks, env) {
  const ran = start(line[0], line.slice(1), env);
  ran.child.stdin.end();
  await within(5 * limit, ran.ended, "end of the client").catch(() => ran.child.kill("SIGKILL"));
  ran.line = line.slice(0, -1).join(" ");
  tell(row, ran);
  const said = outcomes(ran.stdout);
  for (const column of columns.filter((name) => !program.includes(name))) {
    const went = await check(row, column, lacks, () => {
      assert(said[column], "the client did not get this far");
      assert(said[column].passed, said[column].text);
    });
    // Failures that follow from the first one would only hide it.
    if (!went && !said[column]) break;
  }
}

function tell(row, ran) {
  row.context = () => `$ ${ran.line}\n${`${ran.stdout}${ran.stderr}`.trim().slice(-2500)}`;
  if (flags.trace) console.error(`$ ${ran.line}\n${ran.stdout}${ran.stderr}`);
}

function check(row, column, lacks, act) {
  return report.check(row, column, 5 * limit, () => (column in lacks ? skip() : act()));
}

function includes(text, part) {
  assert(text.includes(part), `${brief(part)} is missing in ${brief(text)}`);
}
