// `parley` as the client: `login` where there is no terminal, and `call` on one,
// where it logs in by itself. What it would open in the browser goes to `ask`.

import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { assert, within } from "../lib/report.mjs";

const limit = 30_000;

// Runs one command in a terminal, and ends with its exit code.
const terminal = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/** parleyClient makes a client that keeps its credentials below a folder. */
export function parleyClient(parley, folder) {
  return async ({ url, ask }) => {
    mkdirSync(folder, { recursive: true });
    const pages = join(folder, "pages");
    for (const name of ["xdg-open", "open"]) {
      writeFileSync(join(folder, name), '#!/bin/sh\necho "$1" >>"$PARLEY_INTEROP_PAGES"\n', { mode: 0o700 });
    }
    writeFileSync(pages, "");
    const env = {
      ...process.env,
      PATH: `${folder}:${process.env.PATH}`,
      PARLEY_INTEROP_PAGES: pages,
      PARLEY_CREDENTIALS: join(folder, "credentials"),
      PARLEY_KEYRING: "off",
      NO_COLOR: "1",
    };
    let opened = 0;

    /** run runs parley, and has `ask` visit the URLs that it opens meanwhile. */
    async function run(args, { tty = false } = {}) {
      const command = tty ? [process.env.PYTHON ?? "python3", "-c", terminal, parley, ...args] : [parley, ...args];
      const child = spawn(command[0], command.slice(1), { env, stdio: [tty ? "pipe" : "ignore", "pipe", "pipe"] });
      const said = { stdout: "", stderr: "" };
      for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (chunk) => (said[name] += chunk));
      const ended = new Promise((done, fail) => child.once("error", fail).once("close", done));
      const asked = [];
      const watch = setInterval(() => {
        const urls = readFileSync(pages, "utf8").split("\n").slice(0, -1);
        for (; opened < urls.length; opened++) {
          const visit = ask(new URL(urls[opened]));
          visit.catch(() => child.kill());
          asked.push(visit);
        }
      }, 50);
      try {
        const code = await within(limit, ended, `parley ${args[0]}`);
        await Promise.all(asked);
        return { code, ...said };
      } finally {
        clearInterval(watch);
        child.kill("SIGKILL");
      }
    }

    async function good(args, options) {
      const { code, stdout, stderr } = await run(args, options);
      assert(code === 0, `parley ${args.join(" ")} ended with ${code}: ${stdout}${stderr}`);
      return stdout;
    }

    const pairs = (args) => Object.entries(args).map(([name, value]) => `${name}=${value}`);
    return {
      connect: () => good(["login", url]),
      call: (tool, args) => good(["call", url, tool, ...pairs(args)], { tty: true }),
      /** alone calls a tool without a terminal, where there is nobody to ask. */
      alone: (tool, args) => run(["call", url, tool, ...pairs(args)]),
      status: async () => JSON.parse(await good(["login", url, "--output", "json"])),
      logout: () => good(["logout", url]),
      end: async () => {},
    };
  };
}
