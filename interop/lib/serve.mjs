// Starts `parley serve --http` for the suites that reach it over the network.

import { spawn } from "node:child_process";

import { within } from "./report.mjs";

/**
 * serveHTTP starts one server on a port of its own choice. `origin` is its origin;
 * `end` tells it to stop and returns how it ended.
 */
export async function serveHTTP(parley, flags = []) {
  const child = spawn(parley, ["serve", "--http", "127.0.0.1:0", ...flags], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  const exited = new Promise((done) => child.once("close", (code, signal) => done({ code, signal })));
  // A suite that dies must not leave its server behind.
  process.once("exit", () => child.kill("SIGKILL"));
  const listening = new Promise((done, fail) => {
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      log += chunk;
      const [, url] = /msg=serving\b.*\burl=(\S+)/.exec(log) ?? [];
      if (url) done(new URL(url).origin);
    });
    child.once("error", fail);
    exited.then(({ code, signal }) => fail(new Error(`parley serve --http ended with ${code ?? signal}: ${log}`)));
  });
  const origin = await within(10_000, listening, "start of parley serve --http");
  return {
    origin,
    pid: child.pid,
    log: () => log,
    end: async () => {
      child.kill("SIGTERM");
      try {
        return await within(15_000, exited, "end of parley serve --http after SIGTERM");
      } catch (error) {
        child.kill("SIGKILL");
        throw error;
      }
    },
  };
}
