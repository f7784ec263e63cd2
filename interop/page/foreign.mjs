// Pages of others, in the same browser as the page of parley inspect and the console of a gateway:
// at another port of their host, and at a name that leads to their very port, as DNS rebinding does.
// None of them reaches anything.

import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { assert, brief, equal, freePort, launch, limit, parley, until, Tab } from "./lib.mjs";
import { audited, code, issuerOf, withConsole } from "./lib/gateway.mjs";

const rebound = "rebound.example";
const elsewhere = "elsewhere.example";

/** attacker serves an empty page, and notes what is asked of it. */
async function attacker() {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push({ path: request.url, cookie: request.headers.cookie });
    response.writeHead(200, { "content-type": "text/html", "set-cookie": "parley-1=planted; Path=/" });
    response.end("<!doctype html><title>Elsewhere</title>");
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { port: server.address().port, asked, close: () => server.close() };
}

/** attempts is run in a foreign page: it returns what each attempt came to. read and write are routes of the API. */
async function attempts(base, key, read, write, body) {
  const outcomes = {};
  const attempt = async (name, f) => {
    try {
      const timeout = new Promise((_, fail) => setTimeout(() => fail(new Error("no answer")), 5000));
      outcomes[name] = `GOT ${String(await Promise.race([f(), timeout])).slice(0, 200)}`;
    } catch (error) {
      outcomes[name] = `no: ${error?.message ?? error}`;
    }
  };
  const loads = (tag, attributes) =>
    new Promise((done, fail) => {
      const element = Object.assign(document.createElement(tag), attributes);
      element.onload = () => done("loaded");
      element.onerror = () => fail(new Error("it does not load"));
      document.body.append(element);
    });
  const api = `${base}/api/v1`;
  const deed = JSON.stringify(body);
  const json = { "Content-Type": "application/json" };
  await attempt("fetch", async () => (await fetch(api + read)).status);
  await attempt("fetch with credentials", async () => (await fetch(api + read, { credentials: "include" })).status);
  await attempt("fetch with a key", async () => (await fetch(api + read, { credentials: "include", headers: { "Parley-Key": key } })).status);
  await attempt("post", async () => (await fetch(api + write, { method: "POST", credentials: "include", headers: json, body: deed })).status);
  await attempt("fetch of the page", async () => (await fetch(`${base}/`, { credentials: "include" })).text());
  await attempt("events", () => new Promise((done, fail) => Object.assign(new EventSource(`${api}/events`, { withCredentials: true }), { onopen: () => done("open"), onerror: () => fail(new Error("it does not open")) })));
  await attempt("socket", () => new Promise((done, fail) => Object.assign(new WebSocket(`${api.replace("http", "ws")}/events`), { onopen: () => done("open"), onerror: () => fail(new Error("it does not open")) })));
  for (const file of ["/page.js", "/page.js.map", `/api/v1${read}`]) {
    await attempt(`script ${file}`, () => loads("script", { src: base + file }));
    await attempt(`module ${file}`, () => import(base + file));
  }
  await attempt("style", () => loads("link", { rel: "stylesheet", href: `${base}/page.css` }));
  await attempt("image", () => loads("img", { src: `${base}/icon.svg` }));
  await attempt("image with a code", () => loads("img", { src: `${base}/?code=AAAA` }));
  await attempt("frame", async () => {
    const frame = document.createElement("iframe");
    frame.src = `${base}/`;
    await new Promise((done) => {
      frame.onload = done;
      document.body.append(frame);
    });
    return frame.contentDocument.body.innerHTML || Promise.reject(new Error("it is empty"));
  });
  await attempt("beacon", async () => navigator.sendBeacon(api + write, new Blob([deed], { type: "text/plain" })) && Promise.reject(new Error("it is sent, and nobody says what becomes of it")));
  await attempt("cookies", async () => document.cookie.split("; ").filter((text) => !text.startsWith("parley-1=")).join() || Promise.reject(new Error("none of the page's")));
  await attempt("storage", async () => Object.keys(localStorage).join() || Promise.reject(new Error("empty")));
  await attempt("service worker", () => navigator.serviceWorker.register(`${base}/page.js`));
  return outcomes;
}

// Forms of a foreign page, each of which leads to where it was sent.
const forms = [
  { name: "form", method: "post", enctype: "application/x-www-form-urlencoded" },
  { name: "form as text", method: "post", enctype: "text/plain" },
  { name: "form with a file", method: "post", enctype: "multipart/form-data" },
  { name: "form that gets", method: "get", enctype: "application/x-www-form-urlencoded" },
];

export async function run(stage) {
  const other = await attacker();
  stage.after(() => other.close());
  const browser = await launch([`--host-resolver-rules=MAP ${rebound} 127.0.0.1, MAP ${elsewhere} 127.0.0.1`]);
  stage.after(() => browser.close());
  const inspect = await stage.inspect(["--", parley, "serve", "--stdio"]);
  await tried(stage, browser, other, {
    name: "the page",
    origin: inspect.origin,
    address: inspect.address,
    read: "/connections",
    write: "/connections",
    body: { args: ["touch", "/tmp/owned"] },
    ready: (own) => own.connected(),
    // What a foreign page could have changed.
    state: async (own) => (await own.api("get", "/connections")).connections.length,
    more: (own) => frames(stage, own, inspect.origin),
  });
  const site = await gateway(stage);
  await tried(stage, browser, other, {
    name: "the console",
    origin: site.origin,
    address: await code(site),
    read: "/overview",
    write: "/backends/ref/restart",
    body: {},
    ready: (own) => own.sees("Who may use it"),
    // Each thing that is done, and each that a visitor may not do, is a line of the audit log.
    state: () => audited(site.log).length,
    more: (own) => loggingIn(stage, own, other, site),
  });
}

/** gateway starts a gateway whose users log in at an authorization server. */
async function gateway(stage) {
  const folder = mkdtempSync(join(tmpdir(), "parley-foreign-"));
  stage.after(() => rmSync(folder, { recursive: true, force: true }));
  const [port, issuer] = [await freePort(), await freePort()];
  const site = await withConsole(stage, {
    file: join(folder, "gateway.yaml"),
    port,
    yaml: `version: 1
listen: {http: "127.0.0.1:${port}"}
backends:
  ref: {command: ${JSON.stringify([parley, "serve", "--stdio"])}}
audit: {file: audit.jsonl}
auth: {issuer: {url: "http://127.0.0.1:${issuer}"}}
console: {listen: "127.0.0.1:0", roles: {viewer: {principals: [bob]}}}
`,
  });
  await issuerOf(stage, issuer, site.url, ["bob:babbage"]);
  return { ...site, log: join(folder, "audit.jsonl") };
}

/** tried has foreign pages try to reach a site, in the browser of somebody who uses it. */
async function tried(stage, browser, other, site) {
  const { origin, read, write } = site;
  const { port } = new URL(origin);
  const check = (name, f) => stage.check(`${site.name}: ${name}`, f);

  // A person's own profile: they look at the page, and then go elsewhere.
  const own = await Tab.open(browser, site.address);
  await site.ready(own);
  await own.page.waitForFunction(() => !location.hash.includes("key="));
  const key = await own.page.evaluate(() => Object.values(localStorage).join());
  assert(key.length > 10, "the page keeps a key");
  const state = () => site.state(own);
  const before = await state();

  const places = {
    "another port of the host": { page: `http://127.0.0.1:${other.port}`, base: origin },
    "another name of the host": { page: `http://localhost:${other.port}`, base: origin },
    "another site": { page: `http://${elsewhere}:${other.port}`, base: origin },
    "the page by another name": { page: `http://${elsewhere}:${other.port}`, base: `http://localhost:${port}` },
    "a name that was rebound": { page: `http://${elsewhere}:${other.port}`, base: `http://${rebound}:${port}` },
  };
  for (const [place, { page, base }] of Object.entries(places)) {
    await check(`${place} reaches nothing`, async () => {
      const tab = await own.context.newPage();
      await tab.goto(page);
      const outcomes = await tab.evaluate(attempts, base, "A".repeat(26), read, write, site.body);
      const reached = Object.entries(outcomes).filter(([, outcome]) => outcome.startsWith("GOT"));
      await tab.close();
      equal(brief(reached), "[]", "what was reached");
      equal(await state(), before, "what could have been changed");
      return `${Object.keys(outcomes).length} attempts`;
    });

    await check(`${place}: forms change nothing`, async () => {
      for (const { name, method, enctype } of forms) {
        const tab = await own.context.newPage();
        await tab.goto(page);
        const [response] = await Promise.all([
          tab.waitForNavigation({ timeout: limit }),
          tab.evaluate(
            (action, method, enctype) => {
              const form = Object.assign(document.createElement("form"), { action, method, enctype });
              form.append(Object.assign(document.createElement("input"), { name: '{"args":["touch","/tmp/owned"],"a":"', value: '"}' }));
              document.body.append(form);
              form.submit();
            },
            `${base}/api/v1${method === "get" ? read : write}`,
            method,
            enctype,
          ),
        ]);
        assert([401, 403, 421].includes(response.status()), `${name} is answered with ${response.status()}`);
        await tab.close();
      }
      equal(await state(), before, "what could have been changed");
    });

    await check(`${place}: a window that it opens is not its own`, async () => {
      const tab = await own.context.newPage();
      await tab.goto(page);
      const opened = new Promise((done) => tab.once("popup", done));
      const outcome = await tab.evaluate(async (base) => {
        const other = window.open(`${base}/`);
        const seen = [];
        for (let at = 0; at < 20; at++) {
          await new Promise((done) => setTimeout(done, 50));
          try {
            if (other.document?.body?.innerText || other.location.href.includes("key")) seen.push("document");
          } catch {
            // It is of another origin.
          }
          try {
            other.postMessage({ jsonrpc: "2.0", id: 1, method: "tools/call", params: {} }, "*");
          } catch {
            // Not even that.
          }
        }
        return { seen, length: other.length };
      }, base);
      const popup = await opened;
      const hasOpener = await popup.evaluate(() => window.opener !== null && location.protocol.startsWith("http")).catch(() => false);
      const shown = await popup.evaluate(() => document.querySelectorAll("main").length).catch(() => 0);
      await popup.close();
      await tab.close();
      equal(brief(outcome.seen), "[]", "what was seen");
      assert(!hasOpener || !shown, "the page that was opened has an opener");
    });
  }

  await check("a name that was rebound is told nothing", async () => {
    const tab = await own.context.newPage();
    const response = await tab.goto(`http://${rebound}:${port}/`);
    equal(response.status(), 421, "status of the page");
    const status = await tab.evaluate(async (path) => (await fetch(path, { headers: { "Parley-Key": "x" } })).status, `/api/v1${read}`);
    equal(status, 421, "status of the API, asked from the same origin");
    equal(await tab.evaluate(async () => (await fetch("/page.js")).status), 421, "status of a file");
    await tab.close();
  });

  await check("a cookie that another port gets opens nothing", async () => {
    const tab = await own.context.newPage();
    await tab.goto(`http://127.0.0.1:${other.port}/theft`);
    const stolen = other.asked.filter(({ cookie }) => cookie?.includes(`parley-${port}=`)).map(({ cookie }) => cookie);
    assert(stolen.length > 0, "cookies do not tell ports apart, so that this port gets the page's");
    for (const headers of [{}, { "Parley-Key": "A".repeat(26) }]) {
      const response = await fetch(`${origin}/api/v1${read}`, { headers: { ...headers, cookie: stolen.at(-1) } });
      equal(response.status, 401, "status of a request with the cookie alone");
    }
    const page = await fetch(`${origin}/`, { headers: { cookie: stolen.at(-1) } });
    assert(!(await page.text()).includes(key), "the page tells the key to whoever has the cookie");
    const keyOnly = await fetch(`${origin}/api/v1${read}`, { headers: { "Parley-Key": key } });
    equal(keyOnly.status, 401, "status of a request with the key alone");
    await tab.close();
  });

  await check("cookies that another port plants do not lock anybody out", async () => {
    const tab = await own.context.newPage();
    await tab.goto(`http://127.0.0.1:${other.port}/`);
    await tab.evaluate((port) => {
      for (const path of ["/", "/api", "/api/v1"]) document.cookie = `parley-${port}=planted; path=${path}`;
    }, port);
    await tab.close();
    equal(await state(), before, "what the page itself sees");
  });

  await check("it still works, and nothing was left behind", async () => {
    await until(async () => (await state()) === before, "the state of before");
    await own.api("get", read);
  });
  await site.more(own);
  await own.close();
}

/** frames proves that the origin of apps is no way in. */
async function frames(stage, own, origin) {
  await stage.check("the frames of apps are no way in", async () => {
    const policy = (await fetch(origin)).headers.get("content-security-policy");
    const [frames] = /http:\/\/localhost:\d+/.exec(policy);
    const tab = await own.context.newPage();
    for (const path of ["/", "/sandbox.js", "/sandbox.html", "/AAAA/", "/api/v1/connections"]) {
      const response = await tab.goto(frames + path);
      assert(path === "/sandbox.js" || response.status() >= 400, `${path} is answered with ${response.status()}`);
    }
    const { headers } = await fetch(`${frames}/sandbox.js`);
    assert(headers.get("content-security-policy").endsWith("sandbox"), "a file of the frames, opened by itself, may run");
    equal(headers.get("set-cookie"), null, "cookies of the frames");
    await tab.close();
  });
}

/** loggingIn proves that no foreign page begins a login, ends one, or keeps anybody from theirs. */
async function loggingIn(stage, own, other, site) {
  const login = `${site.origin}/login`;

  await stage.check("the console: a foreign page begins no login, and keeps nobody from theirs", async () => {
    const person = await own.context.newPage();
    await person.goto(login);
    await person.waitForSelector("#password");
    const foreign = await own.context.newPage();
    for (const page of [`http://127.0.0.1:${other.port}`, `http://${elsewhere}:${other.port}`]) {
      await foreign.goto(page);
      const images = await foreign.evaluate(async (src) => {
        const one = (i) => new Promise((done) => document.body.append(Object.assign(document.createElement("img"), { src: `${src}?${i}`, onload: () => done("loaded"), onerror: () => done("refused") })));
        return (await Promise.all([...Array(300).keys()].map(one))).filter((said) => said !== "refused").length;
      }, login);
      equal(images, 0, "images of the login that load");
      const response = await Promise.all([foreign.waitForNavigation({ timeout: limit }), foreign.evaluate((to) => location.assign(to), login)]).then(([first]) => first);
      equal(response.status(), 403, "status of the login that a foreign page leads to");
    }
    await foreign.close();
    await person.bringToFront();
    await person.type("#name", "bob");
    await person.type("#password", "babbage");
    await Promise.all([person.waitForNavigation(), person.click("button[value=login]")]);
    if (await person.$("button[value=allow]")) await person.click("button[value=allow]");
    await person.waitForFunction(() => document.body.innerText.includes("viewer"), { polling: 50 });
    await person.close();
  });
}
