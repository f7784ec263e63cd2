// A gateway with a console, for the scenarios that look at one.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { gatewayHTTP } from "../../lib/serve.mjs";
import { brief, equal, parley, start, until } from "../lib.mjs";

/**
 * withConsole starts a gateway of a configuration that has a console. `address` is what it says about the
 * console: an address that opens it, where nobody has to log in.
 * @param {{file: string, yaml: string, port?: number}} options port: that of the gateway; none is one that is free
 */
export async function withConsole(stage, { file, yaml, port = 0 }) {
  writeFileSync(file, yaml);
  // Where the gateway listens for the command that asks for another address.
  const before = process.env.XDG_STATE_HOME;
  process.env.XDG_STATE_HOME = join(dirname(file), "state");
  stage.after(() => (before === undefined ? delete process.env.XDG_STATE_HOME : (process.env.XDG_STATE_HOME = before)));
  const run = await gatewayHTTP(parley, file, `127.0.0.1:${port}`);
  stage.after(async () => {
    const { code } = await run.end();
    await stage.check("the gateway ends", () => equal(code, 0, `exit code, after ${brief(run.log(), 3000)}`));
  });
  const address = await until(() => /^console: (\S+)$/m.exec(run.log())?.[1], "the address of the console");
  return { run, file, address, origin: new URL(address).origin, url: `${run.origin}/mcp` };
}

/** code asks for an address that lets an operator in. */
export async function code(site) {
  const asked = start(parley, ["gateway", "console", site.file]);
  equal((await asked.ended).code, 0, `exit code: ${asked.stderr}`);
  return asked.stdout.trim();
}

/** issuerOf starts the authorization server of a gateway: users are ["ada:lovelace"]. */
export async function issuerOf(stage, port, resource, users) {
  const run = start(parley, ["serve", "--http", `127.0.0.1:${port}`, "--auth", "dev", ...users.flatMap((user) => ["--user", user]), "--token-resource", resource], { PARLEY_KEYRING: "off" });
  stage.after(async () => {
    run.child.kill("SIGTERM");
    await run.ended;
  });
  await until(() => run.stderr.includes("msg=serving"), "the authorization server");
}

/** audited are the lines of what was done in the console. */
export const audited = (log) =>
  readFileSync(log, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter((line) => line.console);
