// Clients that log in by themselves to `parley serve --auth dev`: the official
// TypeScript and Python ones, and `parley` with a real browser. See ../README.md.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { server } from "../lib/reference.mjs";
import { Report, assert, brief, equal, skip } from "../lib/report.mjs";
import { serveHTTP } from "../lib/serve.mjs";
import { User } from "../lib/user.mjs";
import { Browser } from "./browser.mjs";
import { parleyClient } from "./parley.mjs";
import { python } from "./python.mjs";
import { typescript } from "./typescript.mjs";
import { Visitor } from "./visitor.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const parley = process.env.PARLEY ? resolve(process.env.PARLEY) : resolve(root, ".tmp/parley");
const limit = 60_000;

// Access tokens are renewed within seconds instead of minutes.
const lifetime = 5;

const password = "lovelace";
const another = "babbage";

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" }, // a part of a row's name
    trace: { type: "boolean", default: false }, // the server's log, to standard error
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

const columns = ["login", "call", "token", "step-up", "refresh", "revoke", "deny", "pages", "quiet", "end"];
const report = new Report("logs in to parley serve", columns);

// The README says which clients refresh instead of stepping up.
const rows = [
  { name: "TypeScript 2.4.0", make: typescript(2) },
  { name: "TypeScript 1.32.2", make: typescript(1), lacks: ["step-up"] },
  { name: "TypeScript 1.32.2, no refresh", make: typescript(1), grants: ["authorization_code"], lacks: ["refresh"] },
  { name: "Python 2.3.0", make: python("2.3.0") },
  { name: "Python 1.30.0", make: python("1.30.0") },
  { name: `parley, Chromium ${browser.version}`, own: true },
].filter(({ name }) => !flags.only || name.includes(flags.only));

const served = await serveHTTP(parley, ["--auth", "dev", "--user", `ada:${password}`, "--user", `bob:${another}`, "--token-lifetime", `${lifetime}s`, "--log-level", "debug"]);
const url = `${served.origin}/mcp`;
const secrets = new Set([password, another]);

await Promise.all(rows.map((row, i) => walk({ ...row, port: 50_000 + i })));
await checkServer();
await browser.close();

report.print();
if (flags.trace) console.error(served.log());
process.exit(report.failed > 0 || report.passed === 0 ? 1 : 0);

/** walk runs one client through all checks. */
async function walk({ name, make, port, grants, lacks = [], own }) {
  const row = report.row(name);
  const user = own ? await browser.user("ada", password) : new User("ada", password);
  const redirectUrl = `http://127.0.0.1:${port}/callback`;
  const client = new Visitor({ url, secrets, name, user, redirectUrl, grants, make: make ?? parleyClient(parley, join(scratch, "ada")) });
  row.context = () => client.visits.map((visit) => `visited ${brief(visit.url, 200)}: logged in ${visit.loggedIn}, asked for ${visit.asked}`).join("\n");
  const check = (column, run) => report.check(row, column, limit, async () => (lacks.includes(column) ? skip() : run()));

  await client.open();
  const able = await check("login", () => login(client, own));
  if (able) {
    await check("call", () => call(client));
    await check("token", () => (own ? status(client) : token(client)));
    await check("step-up", () => stepUp(client));
    await check("refresh", () => refresh(client));
    await check("revoke", () => (own ? logout(client) : revoke(client)));
    await check("deny", () => deny({ url, secrets, name, user, redirectUrl, grants, make: make ?? parleyClient(parley, join(scratch, "nobody")) }));
    await check("pages", () => (own ? pages(client) : skip()));
  }
  await client.end();
}

async function login(client, own) {
  const [visit, ...more] = await client.during(() => client.connect());
  equal(more.length, 0, "further visits to the authorization server");
  assert(visit?.loggedIn, "nobody was asked for a password");
  const parameters = new URL(visit.url).searchParams;
  equal(parameters.get("resource"), url, "resource");
  equal(parameters.get("code_challenge_method"), "S256", "code_challenge_method");
  assert(visit.asked.includes("mcp:read") && !visit.asked.includes("mcp:write"), `asked for ${visit.asked}`);
  for (const part of [own ? "Parley" : client.name, url, new URL(parameters.get("redirect_uri")).host, "any program on this computer"]) {
    assert(visit.consent.includes(part), `the consent page does not say ${part}: ${visit.consent}`);
  }
  const answer = new URL(visit.location).searchParams;
  equal(answer.get("iss"), served.origin, "iss");
}

async function call(client) {
  equal((await client.during(() => client.calculate())).length, 0, "visits to the authorization server");
}

/** token checks the access token itself. */
async function token(client) {
  const { client: id, access_token: access, scope } = await client.stored();
  const claims = JSON.parse(Buffer.from(access.split(".")[1], "base64url"));
  const { iss, aud, sub, client_id, exp, iat } = claims;
  equal(brief([iss, aud, sub, client_id]), brief([served.origin, url, "ada", id]), "claims");
  assert(exp - iat - lifetime <= 1, `the token is good for ${exp - iat} s`);
  equal(claims.scope, scope, "scope");
}

/** status checks the same for parley, as far as it shows it: parley does not print tokens. */
async function status(client) {
  const visits = await client.during(async () => {
    const { issuer, resource, scopes, renewable } = await client.status();
    equal(brief([issuer, resource, renewable]), brief([served.origin, url, true]), "status");
    assert(scopes.includes("mcp:read"), `scopes are ${scopes}`);
  });
  assert(!visits.some(({ loggedIn }) => loggedIn), "the browser had to log in again");
}

async function stepUp(client) {
  const { name, arguments: args, distinct } = server.progress;
  const table = `t${client.redirectUrl.split(":")[2].slice(0, 5)}`;
  const [visit, ...more] = await client.during(async () => {
    const said = await client.call(name, { ...args, csv: "id,name\n1,one", [distinct]: table });
    assert(said.includes(table), `${name} says ${brief(said)}`);
  });
  equal(more.length, 0, "further visits to the authorization server");
  assert(visit && !visit.loggedIn, `visited the authorization server: ${brief(visit)}`);
  equal(brief(visit.asked), brief(["mcp:write"]), "asked for");
  const scopes = new URL(visit.url).searchParams.get("scope");
  assert(scopes.includes("mcp:read"), `the client has given up what it had: it asks for ${scopes}`);
  // What it could do before, it can still do.
  equal((await client.during(() => client.calculate())).length, 0, "visits after that");
}

function renewals() {
  return served.log().split("\n").filter((line) => line.includes("path=/token status=200")).length;
}

async function refresh(client) {
  const [before, sent] = [await client.stored?.(), renewals()];
  // Clients with a stream open it again a second after it ended with its token.
  // They do not expect to renew the token for two requests at the same time: the
  // server would take one of the two for a thief.
  await sleep(1000 * (lifetime + 3));
  equal((await client.during(() => client.calculate())).length, 0, "visits to the authorization server");
  assert(renewals() > sent, "nothing was renewed");
  if (!client.stored) return;
  const after = await client.stored();
  assert(after.access_token !== before.access_token, "the access token is the same");
  assert(after.refresh_token && after.refresh_token !== before.refresh_token, "the refresh token is the same");
}

/** revoke ends the grant behind the client's back; the client finds out, and logs in again. */
async function revoke(client) {
  const tokens = await client.stored();
  const form = new URLSearchParams({ client_id: tokens.client, token: tokens.refresh_token ?? tokens.access_token });
  equal((await fetch(`${served.origin}/revoke`, { method: "POST", body: form })).status, 200, "status of the revocation");
  const refused = await fetch(url, { method: "POST", headers: { authorization: `Bearer ${tokens.access_token}` }, body: "{}" });
  equal(refused.status, 401, "status with the revoked token");
  await againIn(client, () => client.calculate());
}

async function logout(client) {
  await client.logout();
  const { name, arguments: args } = server.calculate;
  const { code, stderr } = await client.alone(name, args);
  equal(code, 4, "exit code where nobody can log in");
  assert(stderr.includes("parley login"), `it does not say what to do: ${stderr}`);
  // On a terminal it logs in by itself.
  await againIn(client, () => client.calculate());
}

async function againIn(client, run) {
  const [visit, ...more] = await client.during(run);
  equal(more.length, 0, "further visits to the authorization server");
  assert(visit && !visit.loggedIn, `visited the authorization server: ${brief(visit)}`);
}

async function deny(parts) {
  const client = new Visitor(parts);
  await client.open({ deny: true });
  try {
    await client.connect();
  } catch (error) {
    assert(/access_denied|denied/.test(error.message), `it fails with ${error.message}`);
    equal(client.visits.length, 1, "visits to the authorization server");
    return;
  } finally {
    await client.end();
  }
  throw new Error("it connects all the same");
}

async function pages(client) {
  equal(brief(client.user.complaints), "[]", "what the browser complained about");
  // A user who has not allowed the client anything yet.
  const stranger = await browser.user("bob", another);
  await stranger.inspect(client.visits[0].url);
}

/** checkServer checks the server after all clients are done. */
async function checkServer() {
  const row = report.row("parley serve --auth dev");
  row.context = () => `its log ended with:\n${served.log().slice(-1500)}`;
  await report.check(row, "quiet", limit, () => {
    const log = served.log();
    assert(!log.includes("level=ERROR"), "it has logged an error");
    for (const secret of secrets) assert(!log.includes(secret), `its log holds ${brief(secret, 12)}`);
  });
  await report.check(row, "end", limit, async () => {
    const { code } = await served.end();
    equal(code, 0, "exit code");
  });
}
