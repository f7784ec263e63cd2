// Starts `parley serve --http` for the suites that reach it over the network.

import { spawn } from "node:child_process";

import { within } from "./report.mjs";

/**
 * bridgeHTTP is serveHTTP for `parley bridge --http` in front of the reference server on
 * standard input and output; the two speak a revision.
 */
export function bridgeHTTP(parley, revision) {
  const command = ["bridge", "--http", "127.0.0.1:0", "--revision", revision, "--", parley, "serve", "--stdio"];
  return serving(parley, command, "parley bridge --http");
}

/** gatewayHTTP is serveHTTP for `parley gateway --http` with a configuration, at an address. */
export function gatewayHTTP(parley, file, address = "127.0.0.1:0") {
  return serving(parley, ["gateway", file, "--http", address], "parley gateway --http");
}

/**
 * serveHTTP starts one server on a port of its own choice. `origin` is its origin;
 * `end` tells it to stop and returns how it ended.
 */
export function serveHTTP(parley, flags = []) {
  return serving(parley, ["serve", "--http", "127.0.0.1:0", ...flags], "parley serve --http");
}

async function serving(parley, args, name) {
  const child = spawn(parley, args, { stdio: ["ignore", "ignore", "pipe"] });
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
    exited.then(({ code, signal }) => fail(new Error(`${name} ended with ${code ?? signal}: ${log}`)));
  });
  const origin = await within(30_000, listening, `start of ${name}`);
  return {
    origin,
    pid: child.pid,
    log: () => log,
    end: async () => {
      child.kill("SIGTERM");
      try {
        return await within(30_000, exited, `end of ${name} after SIGTERM`);
      } catch (error) {
        child.kill("SIGKILL");
        throw error;
      }
    },
  };
}
