// What the scenarios stand on: parley inspect, a browser, and what a person does with both.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import puppeteer from "puppeteer-core";

import { freePort } from "../lib/port.mjs";
import { start } from "../lib/process.mjs";
import { assert, brief, skip, within } from "../lib/report.mjs";
import { serveHTTP } from "../lib/serve.mjs";

export { freePort } from "../lib/port.mjs";
export { start } from "../lib/process.mjs";
export { assert, brief, equal, skip, within } from "../lib/report.mjs";
export { serveHTTP } from "../lib/serve.mjs";

export const here = dirname(fileURLToPath(import.meta.url));
export const parley = process.env.PARLEY ? resolve(process.env.PARLEY) : resolve(here, "../../.tmp/parley");
const names = ["chromium", "chromium-browser", "google-chrome"];
const chromium = process.env.CHROMIUM ?? names.map((name) => spawnSync("which", [name], { encoding: "utf8" }).stdout?.trim()).find(Boolean);

/** limit is how long anything may take, in milliseconds: the machine may be busy. */
export const limit = 30_000;

/** needed returns what is missing for the suite to run. */
export function needed() {
  const needs = [
    [parley, "go build -o .tmp/parley ./cmd/parley, or set PARLEY"],
    [chromium, "apt-get install chromium, or set CHROMIUM"],
  ];
  return needs.filter(([file]) => !file || !existsSync(file)).map(([file, how]) => `${file ?? "Chromium"} does not exist: ${how}`);
}

/**
 * launch starts a browser.
 * @param {string[]} [args] more arguments for it
 */
export async function launch(args = []) {
  const browser = await puppeteer.launch({
    executablePath: chromium,
    headless: true,
    protocolTimeout: 120_000,
    // Its sandbox does not work for root, as in most containers.
    args: ["--no-first-run", "--disable-gpu", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), ...args],
  });
  process.once("exit", () => browser.process()?.kill("SIGKILL"));
  return browser;
}

/** Inspect is one run of parley inspect. */
export class Inspect {
  /**
   * start starts parley inspect.
   * @param {string[]} args flags and a target: ["--revision", "2024-11-05", "--", parley, "serve", "--stdio"]
   * @param {object} [env] variables
   */
  static async start(args = [], env = {}) {
    const inspect = new Inspect();
    inspect.run = start(parley, ["inspect", "--no-open", ...args], { PARLEY_KEYRING: "off", ...env });
    inspect.address = await inspect.run.told(limit);
    inspect.origin = new URL(inspect.address).origin;
    return inspect;
  }

  get pid() {
    return this.run.child.pid;
  }

  get stderr() {
    return this.run.stderr;
  }

  /** another presses Enter, and returns the address that is printed. */
  async another() {
    const before = this.run.stdout;
    this.run.child.stdin.write("\n");
    await until(() => this.run.stdout.length > before.length && this.run.stdout.endsWith("\n"), "another address");
    return this.run.stdout.slice(before.length).trim();
  }

  async end() {
    this.run.child.kill("SIGINT");
    return within(limit, this.run.ended, "end of parley inspect");
  }
}

/** until waits for a condition, which may be a promise. */
export async function until(condition, what, milliseconds = limit) {
  for (const end = Date.now() + milliseconds; ; ) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`${what}: not within ${milliseconds} ms`);
    await new Promise((done) => setTimeout(done, 25));
  }
}

/** Tab is a page in a profile of its own. */
export class Tab {
  /** What the browser complained about: violations of the policy, errors, what could not be loaded. */
  complaints = [];

  /**
   * open opens an address.
   * @param {import("puppeteer-core").Browser} browser
   * @param {string} address
   * @param {{width?: number, height?: number, dark?: boolean, trace?: boolean}} [options]
   * Only the tab in front draws; others wait for what they show with timers.
   */
  static async open(browser, address, { width = 1280, height = 860, dark = false, trace = false } = {}) {
    const tab = new Tab();
    tab.context = await browser.createBrowserContext();
    tab.page = await tab.context.newPage();
    tab.page.setDefaultTimeout(limit);
    await tab.page.setViewport({ width, height });
    await tab.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
    tab.page.on("console", (message) => {
      if (trace) console.error(message.type(), message.text());
      if (["error", "warn", "assert"].includes(message.type())) tab.complaints.push(`${message.text()} ${message.location().url ?? ""}`.trim());
    });
    tab.page.on("pageerror", (error) => tab.complaints.push(String(error.stack ?? error)));
    if (address) await tab.page.goto(address, { waitUntil: "load" });
    return tab;
  }

  /** go goes to a place: go("#/c1/tools"). */
  async go(hash) {
    await this.page.evaluate((to) => (location.hash = to), hash);
    await this.settled();
  }

  /** settled waits until nothing on the page is loading. */
  async settled() {
    await this.page.waitForFunction(() => document.querySelector("main") && !document.querySelector("main .spinner"), { polling: 50 });
  }

  /** sees waits until the page shows a text, and returns what its main part shows. */
  async sees(text, selector = "body") {
    try {
      await this.page.waitForFunction((want, at) => document.querySelector(at)?.innerText.includes(want), { polling: 50 }, text, selector);
    } catch {
      throw new Error(`${brief(text)} is not to be seen: ${brief(await this.text(selector), 1500)}`);
    }
    return this.text(selector);
  }

  /** text returns what is seen of an element. */
  text(selector = "main") {
    return this.page.evaluate((at) => document.querySelector(at)?.innerText ?? "", selector);
  }

  /** named finds an element as a screen reader would: by its role and name. */
  named(role, name) {
    return this.page.waitForSelector(`aria/${name}[role="${role}"]`);
  }

  /**
   * click clicks on what has a role and a name. What moves away from under the pointer in that moment is clicked
   * on again, as a person would.
   */
  async click(role, name) {
    let element;
    for (let attempt = 1; ; attempt++) {
      element = await this.named(role, name);
      await this.#rest(element);
      await element.evaluate((e) => e.addEventListener("click", () => (e.wasClicked = true), { capture: true, once: true }));
      await element.click();
      // Where the click leads to another page, there is nothing left to ask.
      const hit = await element.evaluate((e) => e.wasClicked === true).catch(() => true);
      if (hit) break;
      assert(attempt < 5, `${role} ${name} moves away from each click`);
    }
    await element.evaluate((e) => delete e.wasClicked).catch(() => {});
  }

  async #rest(element) {
    // What is live moves, or cannot be pressed while something is under way; a person would wait until it rests, too.
    await element.evaluate(async (e) => {
      e.scrollIntoView({ block: "center" });
      for (let last = "", now; now !== last || e.disabled; ) {
        last = now ?? "";
        await new Promise((done) => setTimeout(done, 40));
        const { x, y, width } = e.getBoundingClientRect();
        now = `${x} ${y} ${width}`;
      }
    });
  }

  /** enter presses Enter on what has a role and a name: where what is live moves it, a click may miss it. */
  async enter(role, name) {
    const element = await this.named(role, name);
    await element.focus();
    await this.page.keyboard.press("Enter");
  }

  /** fill replaces what a field has, as by pasting; it is found by its name. */
  async fill(name, value, role = "textbox") {
    const field = await this.named(role, name);
    await field.evaluate((e) => {
      e.focus();
      e.select?.();
    });
    await this.page.keyboard.press("Backspace");
    if (value) await this.page.keyboard.sendCharacter(value);
  }

  /** choose chooses an option, by its value, once there is one; a field is a selector or an element. */
  async choose(field, value) {
    const select = typeof field === "string" ? await this.page.waitForSelector(field) : field;
    await until(() => select.evaluate((e, want) => [...e.options].some((option) => option.value === want), value), `the option ${value}`);
    await select.select(value);
  }

  /** pick clicks on the first of a role whose text begins as given. */
  async pick(role, text) {
    const found = () => this.page.evaluateHandle((r, t) => [...document.querySelectorAll(`[role=${r}]`)].find((e) => e.innerText.trim().startsWith(t)) ?? null, role, text);
    const element = await until(async () => (await found()).asElement(), `${role} ${text}`);
    await element.click();
  }

  /** press presses a key, such as "Tab" or "?". */
  press(key) {
    return this.page.keyboard.press(key);
  }

  /** shifted presses a key with Shift. */
  async shifted(key) {
    await this.page.keyboard.down("Shift");
    await this.press(key);
    await this.page.keyboard.up("Shift");
  }

  /** confirm says yes in the dialog that has just opened. */
  async confirm() {
    await (await this.page.waitForSelector("dialog[open] footer .danger")).focus();
    await this.press("Enter");
  }

  /** focused returns the name of what has the focus, as a screen reader would say it. */
  async focused() {
    const snapshot = await this.page.accessibility.snapshot();
    const find = (node) => (node.focused ? node : (node.children ?? []).map(find).find(Boolean));
    const node = find(snapshot ?? {});
    return node ? { role: node.role, name: node.name } : undefined;
  }

  /** api calls the API as the page does: api("get", "/connections"). */
  api(method, path, ...args) {
    return this.page.evaluate(
      async (m, p, rest) => {
        const { api, stringify } = await import("/page.js");
        return JSON.parse(stringify((await api[m](p, ...rest)) ?? null));
      },
      method,
      path,
      args,
    );
  }

  /** connected waits until a connection is up, and returns it. */
  connected(id = "c1") {
    return until(async () => {
      const { connections } = await this.api("get", "/connections");
      const found = connections.find((c) => c.id === id);
      assert(!["failed", "closed"].includes(found?.state), `${id} is ${found?.state}: ${brief(found)}`);
      return found?.state === "up" && found;
    }, `${id} is up`);
  }

  /**
   * download returns what the browser has saved once f has made it: the file's name and bytes, as they are in
   * a folder that is removed.
   */
  async download(f) {
    const folder = mkdtempSync(join(tmpdir(), "parley-download-"));
    const session = await this.page.browser().target().createCDPSession();
    try {
      await session.send("Browser.setDownloadBehavior", { behavior: "allow", browserContextId: this.context.id, downloadPath: folder, eventsEnabled: true });
      const begun = new Map();
      session.on("Browser.downloadWillBegin", ({ guid, suggestedFilename }) => begun.set(guid, suggestedFilename));
      const done = new Promise((finish, fail) => {
        session.on("Browser.downloadProgress", ({ guid, state }) => {
          if (state === "completed") finish(begun.get(guid));
          if (state === "canceled") fail(new Error(`the download of ${begun.get(guid)} was cancelled`));
        });
      });
      await f();
      const name = await within(limit, done, "the end of the download");
      return { name, bytes: readFileSync(join(folder, name)) };
    } finally {
      await session.detach();
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** judge runs axe-core over the page and returns what it finds wrong, a line each. */
  async judge() {
    const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
    // Its source comes through the debugger: the page's policy lets no script in.
    const session = await this.page.createCDPSession();
    await session.send("Runtime.evaluate", { expression: `globalThis.axe || (() => { ${readFileSync(axe, "utf8")} })()` });
    await session.detach();
    const complaints = this.complaints.length;
    const { violations } = await this.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"], iframes: false, preload: false }));
    this.complaints.length = complaints; // it tries styles that the policy does not allow
    return violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.target.join(" ")}: ${brief(node.html, 160)}: ${brief(node.any.concat(node.all).map((c) => c.message).join("; "), 200)}`));
  }

  /** fits checks that nothing is wider than the window. */
  async fits() {
    const [content, window] = await this.page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    assert(content <= window, `the page is ${content} pixels wide in a window of ${window}`);
    const wide = await this.page.evaluate(() => {
      const main = document.querySelector("main");
      return main && main.scrollWidth > main.clientWidth + 1 ? `${main.scrollWidth} of ${main.clientWidth}` : "";
    });
    assert(!wide, `the view is too wide: ${wide} pixels`);
    await this.stays();
  }

  /** stays checks that the page as a whole cannot be scrolled: only its parts can. */
  async stays() {
    const [content, window] = await this.page.evaluate(() => [document.documentElement.scrollHeight, document.documentElement.clientHeight]);
    assert(content <= window, `the page is ${content} pixels high in a window of ${window}`);
  }

  async shot(folder, name) {
    if (!folder) return;
    mkdirSync(folder, { recursive: true });
    await this.page.screenshot({ path: join(folder, `${name}.png`) });
  }

  close() {
    return this.context.close();
  }
}

/** both are the ends of the revisions, over both transports. */
export const ways = ["2024-11-05", "2026-07-28"].flatMap((revision) => ["stdio", "HTTP"].map((transport) => ({ name: `${revision} ${transport}`, revision, transport })));

/**
 * reference starts parley inspect with the reference server in one of ways.
 * @returns {Promise<{inspect: Inspect, end: () => Promise<void>}>}
 */
export async function reference({ revision, transport }, { serve = [], flags = [] } = {}) {
  if (transport === "stdio") {
    const inspect = await Inspect.start(["--revision", revision, ...flags, "--", parley, "serve", "--stdio", ...serve]);
    return { inspect, end: () => inspect.end() };
  }
  const served = await serveHTTP(parley, serve);
  const path = revision === "2024-11-05" ? "/sse" : "/mcp";
  const inspect = await Inspect.start([served.origin + path, "--revision", revision, ...flags]);
  return {
    inspect,
    served,
    end: async () => {
      await inspect.end();
      await served.end();
    },
  };
}

const script = resolve(here, "../servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js");

/** transports are those of the official server that has everything, as everything() and everythingHTTP() take them. */
export const transports = ["stdio", "HTTP"];

/** installed is the script of the official server that has everything; without it, the check is skipped. */
export function installed() {
  if (!existsSync(script)) skip("server-everything is not installed: npm ci in interop/servers");
  return script;
}

/**
 * everythingHTTP starts the official server that has everything on a port of its own.
 * @param {"HTTP" | "SSE"} transport
 */
export async function everythingHTTP(transport = "HTTP") {
  installed();
  const port = await freePort();
  const run = start(process.execPath, [script, transport === "SSE" ? "sse" : "streamableHttp"], { PORT: String(port) });
  await until(() => {
    assert(run.child.exitCode === null, `server-everything has ended: ${brief(run.stderr, 1000)}`);
    return /on port/.test(run.stderr + run.stdout);
  }, "the start of server-everything");
  return {
    url: `http://127.0.0.1:${port}/${transport === "SSE" ? "sse" : "mcp"}`,
    end: async () => {
      run.child.kill("SIGKILL"); // streams that are open keep it from ending by itself
      await run.ended;
    },
  };
}

/**
 * everything starts parley inspect with the official server that has everything, in the revision
 * that it prefers.
 * @param {{transport?: "stdio" | "HTTP" | "SSE", flags?: string[]}} [options]
 */
export async function everything({ transport = "stdio", flags = [] } = {}) {
  if (transport === "stdio") {
    const inspect = await Inspect.start([...flags, "--", process.execPath, installed(), "stdio"]);
    return { inspect, end: () => inspect.end() };
  }
  const served = await everythingHTTP(transport);
  const inspect = await Inspect.start([served.url, ...flags]);
  return {
    inspect,
    served,
    end: async () => {
      await inspect.end();
      await served.end();
    },
  };
}
