// Pages of others, in the same browser as the page: at another port of its host, and at a
// name that leads to its very port, as DNS rebinding does. None of them reaches anything.

import { createServer } from "node:http";

import { assert, brief, equal, launch, limit, parley, until, Tab } from "./lib.mjs";

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

/** attempts is run in a foreign page: it returns what each attempt came to. */
async function attempts(base, key) {
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
  const json = { "Content-Type": "application/json" };
  await attempt("fetch", async () => (await fetch(`${api}/connections`)).status);
  await attempt("fetch with credentials", async () => (await fetch(`${api}/connections`, { credentials: "include" })).status);
  await attempt("fetch with a key", async () => (await fetch(`${api}/connections`, { credentials: "include", headers: { "Parley-Key": key } })).status);
  await attempt("post", async () => (await fetch(`${api}/connections`, { method: "POST", credentials: "include", headers: json, body: JSON.stringify({ args: ["touch", "/tmp/owned"] }) })).status);
  await attempt("fetch of the page", async () => (await fetch(`${base}/`, { credentials: "include" })).text());
  await attempt("events", () => new Promise((done, fail) => Object.assign(new EventSource(`${api}/events`, { withCredentials: true }), { onopen: () => done("open"), onerror: () => fail(new Error("it does not open")) })));
  await attempt("socket", () => new Promise((done, fail) => Object.assign(new WebSocket(`${api.replace("http", "ws")}/events`), { onopen: () => done("open"), onerror: () => fail(new Error("it does not open")) })));
  for (const file of ["/page.js", "/page.js.map", "/api/v1/connections"]) {
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
  await attempt("beacon", async () => navigator.sendBeacon(`${api}/connections`, new Blob([JSON.stringify({ args: ["touch", "/tmp/owned"] })], { type: "text/plain" })) && Promise.reject(new Error("it is sent, and nobody says what becomes of it")));
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
  const inspect = await stage.inspect(["--", parley, "serve", "--stdio"]);
  const { port } = new URL(inspect.address);
  const other = await attacker();
  stage.after(() => other.close());
  const browser = await launch([`--host-resolver-rules=MAP ${rebound} 127.0.0.1, MAP ${elsewhere} 127.0.0.1`]);
  stage.after(() => browser.close());

  // A person's own profile: they look at the page, and then go elsewhere.
  const own = await Tab.open(browser, inspect.address);
  await own.connected();
  await own.page.waitForFunction(() => !location.hash.includes("key="));
  const key = await own.page.evaluate(() => Object.values(localStorage).join());
  assert(key.length > 10, "the page keeps a key");
  const connections = async () => (await own.api("get", "/connections")).connections.length;
  const before = await connections();

  const places = {
    "another port of the host": { page: `http://127.0.0.1:${other.port}`, base: inspect.origin },
    "another name of the host": { page: `http://localhost:${other.port}`, base: inspect.origin },
    "another site": { page: `http://${elsewhere}:${other.port}`, base: inspect.origin },
    "the page by another name": { page: `http://${elsewhere}:${other.port}`, base: `http://localhost:${port}` },
    "a name that was rebound": { page: `http://${elsewhere}:${other.port}`, base: `http://${rebound}:${port}` },
  };
  for (const [place, { page, base }] of Object.entries(places)) {
    await stage.check(`${place} reaches nothing`, async () => {
      const tab = await own.context.newPage();
      await tab.goto(page);
      const outcomes = await tab.evaluate(attempts, base, "A".repeat(26));
      const reached = Object.entries(outcomes).filter(([, outcome]) => outcome.startsWith("GOT"));
      await tab.close();
      equal(brief(reached), "[]", "what was reached");
      return `${Object.keys(outcomes).length} attempts`;
    });

    await stage.check(`${place}: forms change nothing`, async () => {
      for (const { name, method, enctype } of forms) {
        const tab = await own.context.newPage();
        await tab.goto(page);
        const [response] = await Promise.all([
          tab.waitForNavigation({ timeout: limit }),
          tab.evaluate(
            (base, method, enctype) => {
              const form = Object.assign(document.createElement("form"), { action: `${base}/api/v1/connections`, method, enctype });
              form.append(Object.assign(document.createElement("input"), { name: '{"args":["touch","/tmp/owned"],"a":"', value: '"}' }));
              document.body.append(form);
              form.submit();
            },
            base,
            method,
            enctype,
          ),
        ]);
        assert([401, 403, 421].includes(response.status()), `${name} is answered with ${response.status()}`);
        await tab.close();
      }
      equal(await connections(), before, "connections");
    });

    await stage.check(`${place}: a window that it opens is not its own`, async () => {
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
      const shown = await popup.evaluate(() => document.querySelectorAll("[data-connection], .rail .connection").length).catch(() => 0);
      await popup.close();
      await tab.close();
      equal(brief(outcome.seen), "[]", "what was seen");
      assert(!hasOpener || !shown, "the page that was opened has an opener");
    });
  }

  await stage.check("a name that was rebound is told nothing", async () => {
    const tab = await own.context.newPage();
    const response = await tab.goto(`http://${rebound}:${port}/`);
    equal(response.status(), 421, "status of the page");
    const status = await tab.evaluate(async () => (await fetch("/api/v1/connections", { headers: { "Parley-Key": "x" } })).status);
    equal(status, 421, "status of the API, asked from the same origin");
    equal(await tab.evaluate(async () => (await fetch("/page.js")).status), 421, "status of a file");
    await tab.close();
  });

  await stage.check("a cookie that another port gets opens nothing", async () => {
    const tab = await own.context.newPage();
    await tab.goto(`http://127.0.0.1:${other.port}/theft`);
    const stolen = other.asked.filter(({ cookie }) => cookie?.includes("parley-")).map(({ cookie }) => cookie);
    assert(stolen.length > 0, "cookies do not tell ports apart, so that this port gets the page's");
    for (const headers of [{}, { "Parley-Key": "A".repeat(26) }]) {
      const response = await fetch(`${inspect.origin}/api/v1/connections`, { headers: { ...headers, cookie: stolen.at(-1) } });
      equal(response.status, 401, "status of a request with the cookie alone");
    }
    const page = await fetch(`${inspect.origin}/`, { headers: { cookie: stolen.at(-1) } });
    assert(!(await page.text()).includes(key), "the page tells the key to whoever has the cookie");
    const keyOnly = await fetch(`${inspect.origin}/api/v1/connections`, { headers: { "Parley-Key": key } });
    equal(keyOnly.status, 401, "status of a request with the key alone");
    await tab.close();
  });

  await stage.check("cookies that another port plants do not lock anybody out", async () => {
    const tab = await own.context.newPage();
    await tab.goto(`http://127.0.0.1:${other.port}/`);
    await tab.evaluate((port) => {
      for (const path of ["/", "/api", "/api/v1"]) document.cookie = `parley-${port}=planted; path=${path}`;
    }, port);
    await tab.close();
    equal(await connections(), before, "connections, seen by the page itself");
  });

  await stage.check("the frames of apps are no way in", async () => {
    const policy = (await fetch(inspect.origin)).headers.get("content-security-policy");
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

  await stage.check("the page still works, and nothing was left behind", async () => {
    await until(async () => (await connections()) === before, "the connections of before");
    await own.close();
  });
}
