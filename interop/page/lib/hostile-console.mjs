// The hostile server behind a gateway, whose console is looked at.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { gatewayHTTP } from "../../lib/serve.mjs";
import { assert, brief, parley, start, until } from "../lib.mjs";
import { Guard, everyRow, openAll } from "./guard.mjs";

const url = (gateway) => `${gateway.origin}/mcp`;

/** behindGateway puts the program behind a gateway, and visits all views of its console. */
export async function behindGateway(stage, program, canary) {
  const folder = mkdtempSync(join(tmpdir(), "parley-hostile-"));
  stage.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "gateway.yaml");
  writeFileSync(
    file,
    `version: 1
backends:
  hostile: {command: ${JSON.stringify([process.execPath, program, canary.origin, "behind"])}}
approval:
  tool_wide: true
  rules: [{backend: hostile, subject: sample, ask: operator}]
pins: {file: pins.json}
audit: {file: audit.jsonl, level: full}
scan: {}
console: {listen: "127.0.0.1:0"}
`,
  );
  const gateway = await gatewayHTTP(parley, file);
  stage.after(() => gateway.end());
  const address = await until(() => /^console: (\S+)$/m.exec(gateway.log())?.[1], "the address of the console");
  const tab = await stage.open(address, { as: "hostile, console" });
  const guard = new Guard();
  await guard.watch(tab, new URL(address).origin);
  const check = (name, f) =>
    stage.check(`console · ${name}`, async () => {
      const said = await f();
      await guard.quiet(name);
      return said;
    });
  const call = (...args) => start(parley, ["call", url(gateway), ...args], { PARLEY_KEYRING: "off" });

  await check("calls that fail, succeed and wait for approval", async () => {
    await Promise.all([call("hostile__fail").ended, call("hostile__shifty", "--json", "{}").ended]);
    const waiting = call("hostile__sample", `a=<img src=x onerror=canary('argument')>\u202e`);
    stage.after(() => waiting.child.kill());
    await tab.go("#/approvals");
    await everyRow(tab, guard, "approvals", { most: 3 });
    const text = await tab.sees("onerror", "#main");
    assert(!text.includes("\u202e"), `a character turns text around: ${brief(text)}`);
    await tab.shot(stage.shots, "hostile-console-approval");
    await tab.click("button", "Refuse");
    await waiting.ended;
  });
  await check("a backend that is another one now, and its pins", async () => {
    await tab.go("#/backends/hostile");
    await openAll(tab);
    await tab.shot(stage.shots, "hostile-console-backend");
    await tab.click("button", "Start again");
    await (await tab.page.waitForSelector("dialog footer .danger")).click();
    await tab.page.waitForFunction(() => !document.querySelector("dialog[open]"));
    await tab.go("#/pins");
    await until(async () => {
      await call("hostile__shifty").ended; // one that finds the old connection ending lists nothing
      return (await tab.text("#main")).includes("changed");
    }, "a pin that has changed");
    await everyRow(tab, guard, "pins", { most: 3 });
    await tab.shot(stage.shots, "hostile-console-pin");
    await tab.page.select("select[aria-label=Which]", "all");
    return `${await everyRow(tab, guard, "pins", { step: 8 })} of all pins`;
  });
  for (const view of ["exchanges", "audit"]) {
    await check(view, async () => {
      await tab.go(`#/${view}`);
      return `${await everyRow(tab, guard, view, { most: 12 })} rows`;
    });
  }
  await check("every other view", async () => {
    const ids = await tab.page.evaluate(async () => (await import("/page.js")).views.map(({ id }) => id));
    for (const id of ids) {
      await tab.go(`#/${id}`);
      await openAll(tab, 1);
      await tab.shot(stage.shots, `hostile-console-${id}`);
      await guard.quiet(id);
    }
    return `${ids.length} views`;
  });
}
