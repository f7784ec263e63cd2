// What proves that hostile texts stay texts: where nothing may arrive, and what a page may never do.

import { createServer } from "node:http";

import { assert, brief, equal } from "../lib.mjs";

/** listen is where nothing must ever arrive. */
export async function listen() {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(200, { "access-control-allow-origin": "*" }).end("canary('loaded')");
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { asked, origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** Guard notes whatever a hostile text brings about in a tab. */
export class Guard {
  ran = []; // scripts, by what they call
  left = []; // requests and windows that are none of the page's
  violations = []; // of the page's policy

  /** watch watches a tab whose page has this origin. */
  async watch(tab, origin) {
    this.tab = tab;
    const { page } = tab;
    const frames = /http:\/\/localhost:\d+/.exec((await fetch(origin)).headers.get("content-security-policy"))?.[0];
    const own = [origin, frames].filter(Boolean).map((one) => `${one}/`);
    await page.exposeFunction("canary", (what) => this.ran.push(String(what)));
    await page.exposeFunction("violated", (what) => this.violations.push(String(what)));
    const watchPolicy = () => {
      if (window === top) addEventListener("securitypolicyviolation", (event) => globalThis.violated?.(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
    };
    await page.evaluateOnNewDocument(watchPolicy);
    await page.evaluate(watchPolicy);
    // What the policy of an app's frame stops is announced, and fails without an error of the network.
    const leaves = (request) => !own.some((one) => request.url().startsWith(one)) && !/^(data|blob):|^about:srcdoc$/.test(request.url());
    page.on("requestfinished", (request) => leaves(request) && this.left.push(request.url()));
    page.on("requestfailed", (request) => leaves(request) && request.failure()?.errorText && this.left.push(`${request.url()} ${request.failure().errorText}`));
    page.on("dialog", async (dialog) => {
      this.ran.push(`dialog ${dialog.type()}: ${dialog.message()}`);
      await dialog.dismiss();
    });
    page.on("popup", (popup) => this.left.push(`window ${popup.url()}`));
    page.on("framenavigated", (frame) => {
      if (frame === page.mainFrame() && !frame.url().startsWith(`${origin}/`)) this.left.push(`went to ${frame.url()}`);
    });
  }

  /** notices proves that the guard sees what it is there for. */
  async notices() {
    await this.tab.page.evaluate(() => {
      globalThis.canary("itself");
      for (const [name, attributes] of [["iframe", {}], ["a", { href: "javascript:canary()" }], ["img", { src: "http://elsewhere.invalid/" }]]) {
        document.querySelector("main").append(Object.assign(document.createElement(name), attributes, { className: "planted" }));
      }
    });
    const found = await this.tab.page.evaluate(strange);
    await this.tab.page.evaluate(() => document.querySelectorAll(".planted").forEach((element) => element.remove()));
    for (const what of ["there is a frame", 'a has href="javascript:canary()"', 'img has src="http://elsewhere.invalid/"']) assert(found.includes(what), `${what} is not noticed, only ${brief(found)}`);
    equal(brief(this.ran), brief(["itself"]), "what ran");
    assert(this.violations.some((text) => text.startsWith("img-src")), `an image from elsewhere is no violation: ${brief(this.violations)}`);
    this.ran.length = this.left.length = this.violations.length = 0;
    this.tab.complaints.length = 0;
  }

  /** quiet checks that nothing ran, nothing left, and nothing of the page is not the page's own. */
  async quiet(where) {
    equal(brief(await this.tab.page.evaluate(strange)), "[]", `strange things in ${where}`);
    equal(brief(this.ran), "[]", `what ran in ${where}`);
    equal(brief(this.left), "[]", `what left ${where}`);
    equal(brief(this.violations), "[]", `violations of the policy in ${where}`);
  }
}

/** strange runs in the page, and returns what is not the page's own. */
function strange() {
  const found = [];
  if ({}.polluted !== undefined || [].shown !== undefined) found.push("the prototype of all objects is polluted");
  const addresses = new Set(["href", "src", "srcset", "action", "formaction", "xlink:href", "data", "poster", "ping", "background"]);
  const allowed = (element, name, value) => {
    if (value.startsWith("#") || (URL.canParse(value, location.href) && new URL(value, location.href).origin === location.origin)) return true;
    if (name === "img") return /^data:image\//.test(value);
    if (name === "audio") return /^(data:audio\/|blob:)/.test(value);
    if (name === "a") return /^https?:\/\//.test(value) && element.target === "_blank" && element.rel.includes("noopener") && element.rel.includes("noreferrer");
    return name === "iframe" && element.classList.contains("app-frame") && /^http:\/\/localhost:\d+\//.test(value);
  };
  for (const element of document.querySelectorAll("*")) {
    const name = element.localName;
    for (const { name: attribute, value } of element.attributes) {
      if (/^on/i.test(attribute) || attribute === "srcdoc") found.push(`${name} has ${attribute}`);
      if (addresses.has(attribute) && !allowed(element, name, value)) found.push(`${name} has ${attribute}="${value.slice(0, 80)}"`);
    }
    if (["object", "embed", "foreignobject", "base", "meta", "style", "marquee", "math", "template"].includes(name) && !document.head.contains(element)) found.push(`there is a ${name}`);
    if (name === "iframe" && !element.classList.contains("app-frame")) found.push("there is a frame");
    if (name === "script" && (!element.src || new URL(element.src).origin !== location.origin)) found.push("there is a script");
  }
  // A view that fails says so in these words, and its title.
  const failed = [...document.querySelectorAll("main > h1 + .notice.error strong")].find((element) => element.textContent.endsWith(" cannot be shown"));
  if (failed) found.push(failed.parentElement.textContent);
  return [...new Set(found)].slice(0, 10);
}

/** drawn waits until the page has drawn what it has to draw. */
export const drawn = (tab) => tab.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20))));

/** openAll opens whatever can be opened in a view, other than what changes something or leaves it. */
export async function openAll(tab, rounds = 3) {
  for (let round = 0; round < rounds; round++) {
    const opened = await tab.page.evaluate(() => {
      let count = 0;
      const seen = (globalThis.seenButtons ??= new WeakSet());
      for (const element of document.querySelectorAll("main summary, main button")) {
        if (count > 300) break;
        if (seen.has(element) || element.disabled) continue;
        seen.add(element);
        const text = element.textContent.trim();
        const opens = element.localName === "summary" ? !element.parentElement.open : element.getAttribute("role") === "tab" || element.getAttribute("aria-expanded") === "false" || /^(Show|All|Text|JSON|Markdown|Read|Get|Open the|Fill|More|Details|Ping|Look for|curl|parley command|Go test|Ask )/.test(text);
        // Tabs of a list are what a scenario chooses.
        if (!opens || text.startsWith("Show the app") || (element.role === "tab" && element.closest(".pane.list"))) continue;
        element.click();
        count++;
      }
      for (const element of document.querySelectorAll("main *")) element.dispatchEvent(new Event("mouseover"));
      return count;
    });
    if (opened === 0) break;
    await drawn(tab);
    await tab.settled();
  }
}

/**
 * everyRow goes through the list of a view by the keyboard, opens what is in its rows, step by step, and
 * returns how many of them.
 */
export async function everyRow(tab, guard, view, { most = 50, step = 1, rounds = 3 } = {}) {
  const list = "main [role=listbox]";
  await tab.page.waitForSelector(list);
  const active = () => tab.page.$eval(list, (element) => element.getAttribute("aria-activedescendant"));
  for (let row = 0; row < most; row++) {
    const before = row === 0 ? "" : await active();
    await tab.page.focus(list);
    if (row === 0) await tab.press("Home");
    else for (let at = 0; at < step; at++) await tab.press("ArrowDown");
    if ((await active()) === before) return row;
    await tab.press("Enter");
    await drawn(tab);
    await tab.settled();
    await openAll(tab, rounds);
    await guard.quiet(`${view}, row ${row}`);
  }
  return most;
}
