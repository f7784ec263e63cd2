// Processes that a suite starts, and that do not outlive it.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { within } from "./report.mjs";

const started = new Set();
process.once("exit", () => {
  for (const child of started) child.kill("SIGKILL");
});

/**
 * start starts a program. What it returns collects what the program writes; `ended` is
 * the promise of its { code, signal }, and told(milliseconds) that of its first line.
 */
export function start(command, args, env = {}) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } });
  const run = { child, line: [command, ...args].join(" "), stdout: "", stderr: "" };
  started.add(child);
  child.once("exit", () => started.delete(child));
  child.stdin.on("error", () => {}); // a process that is gone is noticed by its exit
  child.stdout.setEncoding("utf8").on("data", (chunk) => (run.stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk) => (run.stderr += chunk));
  run.ended = new Promise((done) => {
    child.on("error", (error) => done({ code: error.code }));
    child.on("close", (code, signal) => done({ code, signal }));
  });
  const lines = createInterface({ input: child.stdout });
  const first = new Promise((done) => lines.once("line", done));
  run.told = (limit) => within(limit, Promise.race([first, run.ended.then(({ code }) => fail(run, code))]), "its first line");
  return run;
}

function fail(run, code) {
  throw new Error(`${run.line} ended with ${code} before: ${run.stderr.slice(-1000)}`);
}

/** outcomes reads the lines of JSON that a client writes, one for each column. */
export function outcomes(stdout) {
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  return Object.fromEntries(lines.map((line) => JSON.parse(line)).map((outcome) => [outcome.column, outcome]));
}
