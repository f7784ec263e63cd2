// The checks of the suites whose peer is a program of its own, in both roles: as a
// server with a few known tools, and as a client that checks `parley serve` itself
// and prints a line of JSON for each check.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { outcomes, start } from "./process.mjs";
import { server } from "./reference.mjs";
import { Report, assert, brief, equal, skip, within } from "./report.mjs";
import { serveHTTP } from "./serve.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const parley = process.env.PARLEY ? resolve(process.env.PARLEY) : resolve(here, "../../.tmp/parley");
const limit = 30_000;
const columns = ["connect", "list", "call", "structured", "wrong args", "roots", "elicit", "sample", "progress", "cancel", "subscribe", "ping", "end"];

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" }, // a part of a row's name
    trace: { type: "boolean", default: false }, // everything that the processes write, to standard error
  },
});

/**
 * runPeers runs all rows, prints the report and ends the process. A row is
 *
 *   name, role ("client" or "server"), way ("stdio" or "http")
 *   command    the peer as an array of words, which gets its role, its way and, as a
 *              client, what it has to expect
 *   revision   what has to come out of the negotiation
 *   needs      a file that has to be built
 *   pin        flags that tell parley the revision
 *   lacks      columns that the peer cannot do, each with the reason
 *   hears      whether a cancelled tool of the server stops and says so
 */
export async function runPeers(title, rows) {
  for (const file of [parley, ...rows.map((row) => row.needs)]) {
    if (!existsSync(file)) {
      console.error(`${file} does not exist: interop/run.sh builds it`);
      process.exit(2);
    }
  }
  const report = new Report(title, columns);
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "parley-interop-")));
  process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));
  const inside = join(scratch, "inside");
  mkdirSync(inside);
  for (const file of [join(inside, server.roots.inside), join(scratch, server.roots.outside)]) writeFileSync(file, "needle\n");

  const served = await serveHTTP(parley, ["--root", scratch]);
  for (const peer of rows.filter(({ name }) => !flags.only || name.includes(flags.only))) {
    const row = report.row(peer.name);
    for (const [column, why] of Object.entries(peer.lacks ?? {})) report.note(`${column}: ${why}`);
    const run = new Run(report, row, peer, scratch, inside);
    await (peer.role === "client" ? run.client(served) : run.server());
  }
  await served.end();
  report.print();
  process.exit(report.failed > 0 || report.passed === 0 ? 1 : 0);
}

class Run {
  constructor(report, row, peer, scratch, inside) {
    Object.assign(this, { report, row, peer, scratch, inside, last: { line: "", stdout: "", stderr: "" } });
    row.context = () => `$ ${this.last.line}\n${`${this.last.stdout}${this.last.stderr}`.trim().slice(-2500)}`;
  }

  check(column, run) {
    return this.report.check(this.row, column, 2 * limit, () => (this.peer.lacks?.[column] ? skip() : run()));
  }

  start(command, args) {
    const run = start(command, args);
    this.last = run;
    if (flags.trace) run.ended.then(() => console.error(`$ ${run.line}\n${run.stdout}${run.stderr}`));
    return run;
  }

  /** client has the peer check `parley serve`, and records what it says. */
  async client(served) {
    const [command, ...words] = this.peer.command;
    const expected = JSON.stringify({
      ...server,
      revision: this.peer.revision,
      root: pathToFileURL(this.inside).href,
      parley,
      args: [...server.stdio, "--root", this.scratch],
      origin: served.origin,
    });
    const run = this.start(command, [...words, "client", this.peer.way, expected]);
    run.line = [...this.peer.command, "client", this.peer.way].join(" ");
    await within(4 * limit, run.ended, "end of the client").catch(() => run.child.kill("SIGKILL"));
    const said = outcomes(run.stdout);
    for (const column of columns) {
      const outcome = said[column];
      const passed = await this.check(column, () => {
        assert(outcome, "the client did not get this far");
        assert(outcome.passed, outcome.text);
      });
      // Failures that follow from the first one would only hide it.
      if (!passed && (column === "connect" || !outcome)) break;
    }
  }

  /** server has `parley` check the peer. */
  async server() {
    const { peer } = this;
    const [command, ...words] = peer.command;
    this.notes = join(this.scratch, `${this.report.rows.indexOf(this.row)}.notes`);
    const line = [command, ...words, "server", peer.way, this.notes];
    this.url = [];
    this.target = ["--", ...line];
    let background;
    if (peer.way === "http") {
      background = this.start(line[0], line.slice(1));
      const url = await background.told(limit);
      this.target = [];
      this.url = [url];
    }
    if (await this.check("connect", () => this.connect())) await this.serverChecks();
    background?.child.kill("SIGTERM");
  }

  launch(verb, ...args) {
    return this.start(parley, [verb, ...(this.peer.pin || []), ...this.url, ...args, ...this.target]);
  }

  async parley(wanted, verb, ...args) {
    const run = this.launch(verb, ...args);
    run.child.stdin.end();
    const { code, signal } = await within(limit, run.ended, `end of parley ${verb}`);
    assert([wanted].flat().includes(code), `exit code: expected ${wanted}, got ${code ?? signal}`);
    return run;
  }

  async connect() {
    const { stdout } = await this.parley(0, "info", "--output", "json");
    contains(stdout, "interop");
    contains(stdout, this.peer.revision);
  }

  async serverChecks() {
    // Everything a client can offer, at once: a server that reads any of it wrongly fails.
    const offers = ["--answer", "name=Ada Lovelace", "--answer", "amount=7", "--root", this.inside];
    offers.push("--sampler", `node ${join(here, "../servers/sampler.mjs")}`, "--yes-sample");
    await this.check("list", async () => {
      const { stdout } = await this.parley(0, "list");
      for (const name of ["add", "count", "order", "ask", "where", "notes://today", "review"]) contains(stdout, name);
      contains((await this.parley(0, "read", "notes://today")).stdout, "grüß dich");
      contains((await this.parley(0, "prompt", "review", "code=x = 1")).stdout, "x = 1");
    });
    await this.check("call", async () => {
      const { stdout } = await this.parley(0, "call", ...offers, "count", "steps=1", "pause=0");
      contains(stdout, "counted to 1");
    });
    await this.check("structured", async () => {
      const { stdout } = await this.parley(0, "call", "--output", "json", "add", "a=2", "b:=40");
      equal(JSON.parse(stdout).structuredContent.sum, 42, "sum");
    });
    await this.check("wrong args", async () => {
      const { stderr } = await this.parley([1, 3], "call", "add", "a=2");
      contains(stderr, "b");
    });
    await this.check("roots", async () => {
      contains((await this.parley(0, "call", ...offers, "where")).stdout, this.inside);
    });
    await this.check("elicit", async () => {
      const { stdout } = await this.parley(0, "call", ...offers, "order");
      contains(stdout.toLowerCase(), "accept");
      contains(stdout, "Ada Lovelace");
      // There is nobody to ask: the tool must not be told that somebody agreed.
      const unanswered = await this.parley([0, 1], "call", "order");
      assert(!unanswered.stdout.toLowerCase().includes("accept"), `an answer was made up: ${unanswered.stdout}`);
    });
    await this.check("sample", async () => {
      const { stdout } = await this.parley(0, "call", ...offers, "ask", "text=Why is the sky blue?");
      contains(stdout, "the model said: You asked: Why is the sky blue?");
    });
    await this.check("progress", async () => {
      const { stderr } = await this.parley(0, "call", "--trace", "count", "steps=4", "pause=0.1");
      const values = [...stderr.matchAll(/"notifications\/progress".*?"progress":([\d.]+)/g)].map((match) => Number(match[1]));
      equal(JSON.stringify(values), "[1,2,3,4]", "progress of the notifications");
    });
    await this.check("cancel", () => this.cancel());
    await this.check("subscribe", async () => {
      const { stdout } = await this.parley(0, "watch", "--uri", "notes://today", "--count", "2");
      contains(stdout, "notes://today");
    });
    await this.check("ping", () => this.parley(0, "ping"));
    await this.check("end", async () => {
      if (this.peer.way === "http") skip("the server is not parley's to end");
      equal((await this.leftBehind()).join(), "", "server processes left behind");
    });
  }

  /** leftBehind lists the server's processes that do not end soon after parley. */
  async leftBehind() {
    for (const end = Date.now() + 5000; ; await sleep(50)) {
      const ps = this.start("ps", ["-eo", "pid=,args="]);
      await ps.ended;
      const there = ps.stdout.split("\n").filter((line) => line.includes(this.notes));
      if (there.length === 0 || Date.now() > end) return there;
    }
  }

  async cancel() {
    // On stdio, a copy of all that parley writes shows what it told the server.
    // The shell must end when the server does, and not wait for tee.
    const heard = join(this.scratch, "heard");
    const plain = this.target;
    if (this.peer.way === "stdio") {
      this.target = ["--", "sh", "-c", `tee '${heard}' | { "$@"; kill $$; }`, "sh", ...plain.slice(1)];
    }
    const run = this.launch("call", "--trace", "count", "steps=400", "pause=0.05");
    this.target = plain;
    await within(limit / 2, seen(run, /notifications\/progress/), "first progress");
    run.child.kill("SIGINT");
    const { code } = await within(limit / 2, run.ended, "end of parley after SIGINT");
    equal(code, 130, "exit code");
    if (this.peer.way === "stdio") contains(readFileSync(heard, "utf8"), '"notifications/cancelled"');
    // The tool would go on for 20 s; a server that can hear of it writes this.
    if (this.peer.hears) {
      const stopped = () => existsSync(this.notes) && readFileSync(this.notes, "utf8").includes("count was cancelled");
      await within(10_000, until(stopped), "the end of the cancelled tool");
    }
    await this.parley(0, "call", "count", "steps=1", "pause=0");
  }
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
