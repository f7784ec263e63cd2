// The official Python clients: login.py in a process of its own.

import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { within } from "../lib/report.mjs";

const here = dirname(fileURLToPath(import.meta.url));

/** python makes a client of one version, which interop/python has installed. */
export function python(version) {
  return async ({ url, name, redirectUrl, ask }) => {
    const interpreter = join(here, "../python/.venv", `mcp-${version}`, "bin/python");
    const child = spawn(interpreter, [join(here, "login.py"), "--url", url, "--name", name, "--redirect", redirectUrl]);
    process.once("exit", () => child.kill("SIGKILL"));
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (chunk) => (stderr += chunk));
    child.stdin.on("error", () => {}); // its exit says more
    const ended = new Promise((done, fail) => child.once("error", fail).once("close", done));
    ended.catch(() => {});

    const write = (line) => child.stdin.write(`${JSON.stringify(line)}\n`);
    let settle = { done() {}, fail() {} };
    ended.then((code) => settle.fail(new Error(`the client ended with ${code}: ${stderr.slice(-1500)}`)), settle.fail);
    createInterface({ input: child.stdout }).on("line", (text) => {
      const line = JSON.parse(text);
      if (line.authorize) ask(new URL(line.authorize)).then((location) => write({ location }), settle.fail);
      else if (line.error !== undefined) settle.fail(new Error(line.error));
      else settle.done(line.result);
    });
    const run = (line) =>
      new Promise((done, fail) => {
        settle = { done, fail };
        write(line);
      });

    return {
      connect: () => run({ do: "connect" }),
      call: (tool, args) => run({ do: "call", tool, arguments: args }),
      stored: () => run({ do: "stored" }),
      end: async () => {
        child.stdin.end();
        await within(30_000, ended, "end of the client").catch(() => child.kill("SIGKILL"));
      },
    };
  };
}
