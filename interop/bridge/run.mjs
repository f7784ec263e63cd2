// Runs the official TypeScript clients of five revisions through `parley bridge`, in
// both directions: on standard input and output for a server at a URL, and over HTTP for
// a server on standard input and output. Behind the bridge there is once a session and
// once none. See ../README.md.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const suite = fileURLToPath(new URL("../typescript/run.mjs", import.meta.url));
let passed = 0;
let failed = 0;
for (const revision of ["2025-11-25", "2026-07-28"]) {
  const output = await run(["--bridge", revision, ...process.argv.slice(2)]);
  const [, good, bad] = /(\d+) passed, (\d+) failed\n$/.exec(output) ?? [];
  passed += Number(good ?? 0);
  failed += Number(bad ?? 1);
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);

function run(args) {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [suite, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      output += chunk;
      process.stdout.write(chunk);
    });
    child.once("error", fail);
    child.once("close", () => done(output));
  });
}
