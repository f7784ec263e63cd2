// Logging in to the reference server with its authorization server for development: each step
// is seen, and the login is renewed, extended and ended.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { assert, brief, equal, parley, serveHTTP, until } from "./lib.mjs";

export async function run(stage) {
  const served = await serveHTTP(parley, ["--auth", "dev", "--user", "ada:lovelace"]);
  stage.after(() => served.end());
  const store = mkdtempSync(join(tmpdir(), "parley-login-"));
  stage.after(() => rmSync(store, { recursive: true, force: true }));
  stage.expect(/login\/paste|favicon\.ico/);
  for (const revision of ["2025-03-26", "2025-06-18", "2026-07-28"]) await flow(stage, served, store, revision);
  await documented(stage, served, store);
}

/** agree does what a person does at the authorization server. */
async function agree(tab, name, { deny = false } = {}) {
  const link = await tab.named("link", name);
  equal(await link.evaluate((a) => `${a.target} ${a.rel}`), "_blank noopener noreferrer", "the link");
  const opened = new Promise((done) => tab.context.once("targetcreated", done));
  await link.click();
  const page = await (await opened).page();
  await page.waitForSelector("main");
  if (await page.$("#password")) {
    await page.type("#name", "ada");
    await page.type("#password", "lovelace");
    await Promise.all([page.waitForNavigation(), page.click("button[value=login]")]);
  }
  await Promise.all([page.waitForNavigation(), page.click(`button[value=${deny ? "deny" : "allow"}]`)]);
  await page.waitForFunction(() => document.body.innerText.includes("Your answer has arrived"), { polling: 50 });
  await page.close();
  await tab.page.bringToFront();
}

/** steps returns the titles of the steps of the newest login. */
const steps = (tab) => tab.page.$$eval("ol.steps", ([newest]) => [...(newest?.querySelectorAll(".what") ?? [])].map((e) => e.innerText));

/** claims checks what is shown of the access token, where all steps are open. */
async function claims(tab, served) {
  await tab.page.$$eval("section[aria-label=Login] > details", (all) => (all.find((details) => details.innerText.startsWith("Claims of the access token")).open = true));
  for (const place of ["[aria-label='Claims of the access token']", "ol.steps [aria-label=Claims]"]) {
    const text = await tab.sees("aud", place);
    for (const part of ["iss", served.origin, "sub", "ada", "scope", "exp"]) assert(text.includes(part), `no ${part} among the claims: ${brief(text, 1000)}`);
  }
}

/**
 * elsewhere does what a person does whose browser is on another machine: they log in there, and paste the
 * address that it ends at, where nobody listens.
 */
async function elsewhere(tab) {
  const { waiting } = await tab.api("get", "/connections/c1/login");
  const page = await tab.context.newPage();
  await page.setRequestInterception(true);
  const ended = new Promise((done) =>
    page.on("request", (request) => {
      if (!request.url().startsWith(waiting.redirect)) return request.continue();
      done(request.url());
      return request.abort("connectionrefused");
    }),
  );
  await page.goto(waiting.url);
  if (await page.$("#password")) {
    await page.type("#name", "ada");
    await page.type("#password", "lovelace");
    await Promise.all([page.waitForNavigation(), page.click("button[value=login]")]);
  }
  await page.click("button[value=allow]");
  const address = await ended;
  await page.close();
  await tab.page.bringToFront();
  await tab.page.$$eval("summary", (all) => all.find((s) => s.innerText.includes("on another machine")).click());
  await tab.fill("The address that the browser ends at", "rubbish");
  await tab.click("button", "Use this address");
  await tab.sees("not an address with the answer to a login", ".waiting"); // and it goes on
  await tab.fill("The address that the browser ends at", address);
  await tab.click("button", "Use this address");
}

async function flow(stage, served, store, revision) {
  const inspect = await stage.inspect([`${served.origin}/mcp`, "--revision", revision], { PARLEY_CREDENTIALS: join(store, revision) });
  let tab = await stage.open(inspect.address, { as: revision });
  const host = new URL(served.origin).host;
  const button = `Log in at ${host}`;

  await stage.check(`${revision}: the page says that a login is wanted, and where`, async () => {
    await tab.go("#/c1");
    const text = await tab.sees("The server wants you to log in.", "main");
    assert(text.includes(host) && text.includes("Waits for you to log in"), brief(text, 800));
    await tab.shot(stage.shots, `login-wanted-${revision}`);
    equal((await tab.judge()).join("\n"), "", "axe");
  });

  await stage.check(`${revision}: each step is seen`, async () => {
    await agree(tab, button);
    await tab.sees("Connected", "main");
    await tab.sees("logged in", "main");
    await until(async () => (await steps(tab)).includes("Token"), "the token");
    const got = await steps(tab);
    for (const step of ["The server demands a login", "Protected resource metadata", "Authorization server metadata", "Registration of the client", "As which client", "Authorization request", "The answer of the authorization server", "Token"]) {
      assert(got.includes(step), `no step "${step}": ${got}`);
    }
    await tab.page.$$eval("ol.steps details", (all) => all.forEach((details) => (details.open = true)));
    const text = await tab.sees("code_challenge_method", "main");
    for (const part of ["S256", "WWW-Authenticate", "authorization_servers", "token_endpoint", "not shown", "registered dynamically, just now"]) assert(text.includes(part), `no ${part}`);
    assert(!/eyJ[A-Za-z0-9_-]{20,}/.test(text), "a token is shown");
    await claims(tab, served);
    await tab.page.$eval("ol.steps", (list) => list.scrollIntoView());
    await tab.shot(stage.shots, `login-steps-${revision}`);
    equal((await tab.judge()).join("\n"), "", "axe");
  });

  await stage.check(`${revision}: refresh`, async () => {
    await tab.click("button", "Refresh now");
    await until(async () => (await steps(tab)).includes("Refresh"), "the refresh");
  });

  await stage.check(`${revision}: more scopes`, async () => {
    const { status } = await tab.api("get", "/connections/c1/login");
    const { steps: all } = await tab.api("get", "/connections/c1/login");
    const offered = all.find((step) => step.name === "server-metadata").response.document.scopes_supported;
    const scope = offered.find((s) => s !== "mcp:write" && !status.scopes.includes(s)) ?? offered[0];
    await tab.page.$$eval("summary", (all) => all.find((s) => s.innerText.includes("Ask for more scopes")).click());
    await tab.fill("Scopes", scope);
    await tab.click("button", "Ask for them");
    await agree(tab, button);
    await until(async () => (await tab.api("get", "/connections/c1/login")).status.scopes.includes(scope), `the scope ${scope}`);
    return scope;
  });

  await stage.check(`${revision}: a call that needs more asks for it wherever one is, and goes on`, async () => {
    await tab.go("#/c1/log");
    const { id } = await tab.api("post", "/connections/c1/calls", { method: "tools/call", params: { name: "create_basket", arguments: {} } });
    await tab.sees("wants you to log in", "aside");
    await tab.shot(stage.shots, `login-more-${revision}`);
    await tab.page.$eval("aside[aria-label=Logins] a", (link) => link.click());
    const text = await tab.sees("The server wants you to log in.", "main");
    assert(text.includes("The server demands more scopes"), brief(text, 1000));
    await agree(tab, button);
    await until(async () => (await tab.api("get", `/connections/c1/calls/${id}`)).state === "done", "the call");
    const { status } = await tab.api("get", "/connections/c1/login");
    assert(status.scopes.includes("mcp:write"), `scopes ${status.scopes}`);
  });

  await stage.check(`${revision}: a reload keeps the login, and its steps`, async () => {
    await tab.page.reload();
    await tab.sees("logged in", "main");
    assert((await steps(tab)).length > 0, "the steps are forgotten");
  });

  await stage.check(`${revision}: log out`, async () => {
    await tab.click("button", "Log out");
    await tab.sees("not logged in", "main");
    await until(async () => (await steps(tab)).includes("Revocation"), "the revocation");
  });

  await stage.check(`${revision}: who refuses gets no connection, and can log in later`, async () => {
    await tab.click("button", "Reconnect");
    await tab.sees("The server wants you to log in.", "main");
    await agree(tab, button, { deny: true });
    await tab.sees("Not connected", "main");
    await tab.sees("access_denied", "main");
    await tab.click("button", "Log in");
    await agree(tab, button);
    await tab.sees("Connected", "main");
  });

  await stage.check(`${revision}: another run finds the login, as parley login would`, async () => {
    stage.expect(new RegExp(`ERR_CONNECTION_REFUSED ${inspect.origin}/`)); // the first run has ended
    await inspect.end();
    const again = await stage.inspect([`${served.origin}/mcp`, "--revision", revision], { PARLEY_CREDENTIALS: join(store, revision) });
    const second = await stage.open(again.address, { as: `${revision} again` });
    await second.go("#/c1");
    await second.sees("Connected", "main");
    await second.sees("logged in", "main");
    tab = second;
  });

  await stage.check(`${revision}: all is forgotten, and the address of a login elsewhere is pasted`, async () => {
    await tab.click("button", "Forget all");
    await tab.sees("not logged in", "main");
    const { status, client } = await tab.api("get", "/connections/c1/login");
    assert(!status.loggedIn && !client, `what is left is ${brief({ status, client })}`);
    await tab.click("button", "Log in");
    await tab.sees("The server wants you to log in.", "main");
    await elsewhere(tab);
    await until(async () => (await tab.api("get", "/connections/c1/login")).status.loggedIn, "the login");
    await tab.sees("logged in", "main");
    const got = await steps(tab);
    assert(got.includes("Registration of the client"), `the client was not forgotten: ${got}`);
    await tab.shot(stage.shots, `login-pasted-${revision}`);
  });
}

/** documented logs in as a client that is known by its metadata document. The server fetches none of its own machine. */
async function documented(stage, served, store) {
  const inspect = await stage.inspect([], { PARLEY_CREDENTIALS: join(store, "documented") });
  const tab = await stage.open(inspect.address, { as: "documented" });
  const document = "https://127.0.0.1:9/client.json";

  await stage.check("a client metadata document takes the place of a registration", async () => {
    await tab.go("#/home");
    await tab.fill("Server", `${served.origin}/mcp`);
    await tab.page.$$eval("summary", (all) => all.find((s) => s.innerText === "Advanced").click());
    await tab.fill("Client metadata URL", document);
    await tab.shot(stage.shots, "login-document-form");
    await tab.click("button", "Connect");
    await tab.sees("The server wants you to log in.", "main");
    await tab.page.$$eval("ol.steps details", (all) => all.forEach((details) => (details.open = true)));
    await tab.sees("client ID metadata document", "ol.steps");
    const text = await tab.sees(document, "ol.steps");
    assert(text.includes("client_id_metadata_document_supported"), `the server does not say that it takes documents: ${brief(text, 1500)}`);
    const got = await steps(tab);
    assert(!got.includes("Registration of the client"), `it was registered all the same: ${got}`);
    equal(new URL((await tab.api("get", "/connections/c1/login")).waiting.url).searchParams.get("client_id"), document, "as which client");
    await tab.page.$eval("ol.steps", (list) => list.scrollIntoView());
    await tab.shot(stage.shots, "login-document");
  });

  await stage.check("a document that the authorization server does not get is said there, and the login can be given up", async () => {
    const opened = new Promise((done) => tab.context.once("targetcreated", done));
    await tab.click("link", `Log in at ${new URL(served.origin).host}`);
    const page = await (await opened).page();
    await page.waitForSelector("#password");
    await page.type("#name", "ada");
    await page.type("#password", "lovelace");
    await Promise.all([page.waitForNavigation(), page.click("button[value=login]")]);
    const text = await page.evaluate(() => document.body.innerText);
    assert(text.includes(document) && text.includes("cannot be fetched"), brief(text, 1000));
    await page.close();
    await tab.page.bringToFront();
    await tab.click("button", "Do not log in");
    await tab.sees("Not connected", "main");
    await tab.sees("the login was cancelled", "main");
  });
}
