// Runs `parley` against a server of mcp-go before 0.34, and a client of the official
// Go SDK against `parley serve`. See ../README.md.

import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { Report, assert, equal, within } from "../lib/report.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const parley = process.env.PARLEY ? resolve(process.env.PARLEY) : resolve(here, "../../.tmp/parley");
const peer = resolve(here, "../../.tmp/interop-go");
const limit = 30_000;
const run = promisify(execFile);

for (const file of [parley, peer]) {
  if (!existsSync(file)) {
    console.error(`${file} does not exist: interop/run.sh builds it`);
    process.exit(2);
  }
}

const report = new Report("peer", ["info", "call", "stream", "roots"]);

const server = spawn(peer, ["server"], { stdio: ["ignore", "pipe", "inherit"] });
try {
  const lines = createInterface({ input: server.stdout });
  const [url] = await within(limit, new Promise((told) => lines.once("line", (line) => told([line]))), "the server's URL");
  const row = report.row("mcp-go 0.33.0 server");
  await report.check(row, "info", limit, async () => {
    const { stdout } = await run(parley, ["info", url]);
    assert(/revision +2025-03-26/.test(stdout), `parley info said ${stdout}`);
  });
  await report.check(row, "call", limit, async () => {
    const { stdout } = await run(parley, ["call", url, "plain"]);
    equal(stdout, "plain text\n", "the result");
  });
  await report.check(row, "stream", limit, async () => {
    const { stdout, stderr } = await run(parley, ["call", url, "--trace", "count", "to=3"]);
    equal(stdout, "counted to 3\n", "the result");
    assert(/tools\/call[^]*HTTP 202 Accepted/.test(stderr), "the stream did not have the status 202");
  });
} finally {
  server.kill();
}

for (const revision of ["2025-06-18", "2026-07-28"]) {
  const row = report.row(`go-sdk 1.8.0 client, ${revision}`);
  await report.check(row, "roots", limit, async () => {
    await run(peer, ["client", parley, revision]);
  });
}

report.print();
process.exitCode = report.failed > 0 ? 1 : 0;
