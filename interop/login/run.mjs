// A real Chromium logs in through `parley gateway`: the official TypeScript clients meet
// its 401, the user logs in at its issuer, and later at a server behind it, where the
// gateway sends them by URL elicitation. Both authorization servers are those of
// `parley serve --auth dev`. See ../README.md.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { Browser } from "../auth/browser.mjs";
import { typescript } from "../auth/typescript.mjs";
import { Visitor } from "../auth/visitor.mjs";
import { freePort } from "../lib/port.mjs";
import { Report, assert, brief, equal } from "../lib/report.mjs";
import { gatewayHTTP, serveHTTP } from "../lib/serve.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const parley = process.env.PARLEY ? resolve(process.env.PARLEY) : resolve(here, "../../.tmp/parley");
const limit = 60_000;
// Each server is ended with the process, by a listener of its own.
process.setMaxListeners(50);

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" }, // a part of a row's name
    trace: { type: "boolean", default: false }, // the gateway's log, to standard error
  },
});

if (!existsSync(parley)) {
  console.error(`${parley} does not exist: go build -o .tmp/parley ./cmd/parley, or set PARLEY`);
  process.exit(2);
}
const browser = await Browser.open();
if (!browser) {
  console.error("there is no Chromium: apt-get install chromium, or set CHROMIUM");
  process.exit(2);
}
process.once("exit", () => browser.puppet.process()?.kill("SIGKILL"));
const scratch = mkdtempSync(join(tmpdir(), "parley-interop-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));

const columns = ["login", "call", "offer", "phishing", "visit", "again", "restart", "end"];
const report = new Report(`Chromium ${browser.version} logs in through parley gateway`, columns);
const rows = [
  { name: "TypeScript 2.4.0", make: typescript(2) },
  { name: "TypeScript 1.32.2", make: typescript(1) },
].filter(({ name }) => !flags.only || name.includes(flags.only));

const secrets = new Set();
for (const [i, row] of rows.entries()) await walk(row, 50_100 + i);
await browser.close();
report.print();
process.exit(report.failed > 0 || report.passed === 0 ? 1 : 0);

/** site starts a gateway with its issuer, and a shop with another one behind it. */
async function site(name) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  const users = ["--user", "ada:lovelace", "--user", "bob:babbage"];
  const issuer = await serveHTTP(parley, ["--auth", "dev", ...users, "--token-resource", url]);
  const shop = await serveHTTP(parley, ["--auth", "dev", ...users]);
  const file = join(scratch, `${name}.yaml`);
  const key = join(scratch, `${name}.key`);
  writeFileSync(key, randomBytes(32).toString("base64"), { mode: 0o600 });
  writeFileSync(
    file,
    `version: 1
listen: {http: "127.0.0.1:${port}"}
auth: {issuer: {url: "${issuer.origin}"}}
logins: {dir: "${name}-logins", key: "\${file:${key}}"}
backends:
  ref: {command: ["${parley}", serve, --stdio]}
  shop: {url: "${shop.origin}/mcp", auth: {user: {}}}
`,
  );
  const start = () => gatewayHTTP(parley, file, `127.0.0.1:${port}`);
  const all = { url, issuer, shop, gateway: await start() };
  all.restart = async () => {
    equal((await all.gateway.end()).code, 0, "exit code");
    all.gateway = await start();
  };
  all.end = async () => {
    const { code } = await all.gateway.end();
    if (flags.trace) console.error(all.gateway.log());
    await Promise.all([issuer.end(), shop.end()]);
    equal(code, 0, `exit code, after ${brief(all.gateway.log(), 2000)}`);
  };
  return all;
}

async function walk({ name, make }, port) {
  const row = report.row(name);
  const check = (column, run) => report.check(row, column, limit, run);
  const at = await site(name.replaceAll(/\W/g, "-"));
  const [ada, bob] = [await browser.user("ada", "lovelace"), await browser.user("bob", "babbage")];
  const visits = [];
  const elicit = async ({ mode, url, message }) => {
    equal(mode, "url", "mode");
    assert(message.includes("shop"), `the message is ${message}`);
    // Somebody else is sent the link first.
    if (visits.length === 0) visits.push(await bob.visit(url));
    visits.push(await ada.visit(url));
  };
  const client = new Visitor({
    url: at.url, secrets, name, user: ada, redirectUrl: `http://127.0.0.1:${port}/callback`,
    make: (parts) => make({ ...parts, elicit }),
  });
  row.context = () => visits.map((visit) => brief(visit, 600)).join("\n");
  await client.open();

  // The page of the client that the issuer sends the browser back to.
  const page = createServer((_, response) => response.end("you can close this page"));
  await new Promise((done) => page.listen(port, "127.0.0.1", done));

  const able = await check("login", async () => {
    const [visit, ...more] = await client.during(() => client.connect());
    equal(more.length, 0, "further visits to the issuer");
    assert(visit?.loggedIn, "nobody was asked for a password");
    equal(new URL(visit.url).origin, at.issuer.origin, "where the user logs in");
    equal(new URL(visit.url).searchParams.get("resource"), at.url, "resource");
  });
  if (able) {
    await check("call", async () => equal(await client.call("ref__calculate", { expression: "6 * 7" }), "42", "the answer"));
    await check("offer", async () => {
      const names = (await client.tools()).filter((tool) => tool.startsWith("shop__"));
      equal(brief(names), brief(["shop__log_in"]), "tools of the shop, before anybody has logged in there");
    });
    await check("visit", async () => {
      equal(await client.call("shop__calculate", { expression: "7 * 8" }), "56", "the answer");
      equal(visits.length, 2, "visits");
      const { status, text, headers, url } = visits[1];
      equal(status, 200, `status of ${brief(text)}`);
      equal(new URL(url).origin, new URL(at.url).origin, "where it ends");
      assert(text.includes("You are logged in at"), `the page says ${brief(text)}`);
      assert(!headers["content-security-policy"].includes("script"), "the page may run scripts");
      const tokens = await client.stored();
      assert(!JSON.stringify(tokens).includes(at.shop.origin), "the client has something of the shop");
    });
    await check("phishing", () => {
      const { status, text } = visits[0];
      equal(status, 403, `status of ${brief(text)}`);
      assert(text.includes("made for somebody else"), `the page says ${brief(text)}`);
    });
    await check("again", async () => {
      equal(await client.call("shop__calculate", { expression: "8 * 9" }), "72", "the answer");
      const names = await client.tools();
      assert(names.includes("shop__calculate") && !names.includes("shop__log_in"), `the tools are ${brief(names)}`);
      equal(visits.length, 2, "visits");
    });
    await check("restart", async () => {
      await at.restart();
      await client.connect();
      equal(await client.call("shop__calculate", { expression: "9 * 9" }), "81", "the answer");
      equal(visits.length, 2, "visits");
    });
  }
  for (const { name, complaints } of [ada, bob]) {
    const serious = complaints.filter((text) => !/status of 403/.test(text));
    if (serious.length > 0) await check("end", () => assert(false, `the browser of ${name} complained: ${brief(serious)}`));
  }
  await client.end();
  page.closeAllConnections();
  page.close();
  await check("end", () => at.end());
}
