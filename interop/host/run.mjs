// Tries the conversions of client/host on the types that OpenAI and Anthropic publish for
// their APIs. See ../README.md.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { Report, assert } from "../lib/report.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const program = resolve(here, "../../.tmp/interop-host");
if (!existsSync(program)) {
  console.error(`${program} does not exist: interop/run.sh builds it`);
  process.exit(2);
}

const report = new Report("API", ["request", "response", "tools", "results"]);
const rows = new Map();
const output = execFileSync(program, [resolve(here, "../../client/host")], { encoding: "utf8" });
for (const line of output.trim().split("\n")) {
  const { api, check, error } = JSON.parse(line);
  if (!rows.has(api)) rows.set(api, report.row(api));
  await report.check(rows.get(api), check, 1000, async () => assert(!error, error));
}

report.print();
process.exitCode = report.failed > 0 ? 1 : 0;
