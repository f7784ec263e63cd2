// A real browser as the user: Chromium without a window, driven by puppeteer-core.

import { spawnSync } from "node:child_process";

import puppeteer from "puppeteer-core";

import { assert, brief, equal } from "../lib/report.mjs";

const names = ["chromium", "chromium-browser", "google-chrome"];
const program = process.env.CHROMIUM ?? names.map((name) => spawnSync("which", [name], { encoding: "utf8" }).stdout?.trim()).find(Boolean);

export class Browser {
  /** open starts Chromium; it returns undefined if there is none. */
  static async open() {
    if (!program) return undefined;
    const browser = new Browser();
    browser.puppet = await puppeteer.launch({
      executablePath: program,
      headless: true,
      // Its sandbox does not work for root, as in most containers.
      args: ["--no-first-run", "--disable-gpu", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
    });
    [, browser.version] = /\/([\d.]+)/.exec(await browser.puppet.version());
    return browser;
  }

  close() {
    return this.puppet.close();
  }

  /** user makes a user with a profile, and so cookies, of their own. */
  async user(name = "ada", password = "lovelace") {
    const context = await this.puppet.createBrowserContext();
    return new Person(context, name, password);
  }
}

class Person {
  /** What the browser complained about, above all violations of a page's policy. */
  complaints = [];

  constructor(context, name, password) {
    Object.assign(this, { context, name, password });
  }

  async page() {
    const page = await this.context.newPage();
    // The pages have to work without JavaScript.
    await page.setJavaScriptEnabled(false);
    page.on("console", (message) => {
      // Every browser asks for an icon of its own accord.
      if (!message.location().url?.endsWith("/favicon.ico")) this.complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    return page;
  }

  /** press clicks a button, and waits for the page that follows. */
  async press(page, action) {
    const [response] = await Promise.all([page.waitForNavigation({ timeout: 30_000 }), page.click(`button[value=${action}]`)]);
    return response;
  }

  async fill(page, password = this.password) {
    for (const [field, value] of Object.entries({ name: this.name, password })) {
      await page.$eval(`#${field}`, (input) => (input.value = ""));
      await page.type(`#${field}`, value);
    }
    return this.press(page, "login");
  }

  /** authorize is User.authorize, except that the client gets its answer. */
  async authorize(url, { deny = false } = {}) {
    const page = await this.page();
    try {
      await page.goto(String(url), { timeout: 30_000 });
      const loggedIn = (await page.$("#password")) !== null;
      if (loggedIn) await this.fill(page);
      const asked = await page.$$eval("input[name=scope]", (boxes) => boxes.map((box) => box.value));
      const consent = await page.$eval("main", (main) => main.innerText);
      const response = await this.press(page, deny ? "deny" : "allow");
      const location = page.url();
      assert(!location.startsWith(new URL(url).origin), `still at the authorization server: ${brief(await page.content())}`);
      equal(response.status(), 200, "status of the client's own page");
      return { location, loggedIn, asked, consent };
    } finally {
      await page.close();
    }
  }

  /**
   * visit opens a page, and goes on for as long as there is something to fill in, to allow
   * or to follow. It returns where that ends.
   */
  async visit(url) {
    const page = await this.page();
    try {
      let response = await page.goto(String(url), { timeout: 30_000 });
      for (let steps = 0; steps < 10; steps++) {
        if (await page.$("#password")) {
          response = await this.fill(page);
        } else if (await page.$("button[value=allow]")) {
          response = await this.press(page, "allow");
        } else if (await page.$("a.button")) {
          [response] = await Promise.all([page.waitForNavigation({ timeout: 30_000 }), page.click("a.button")]);
        } else {
          break;
        }
      }
      const text = await page.$eval("main", (main) => main.innerText);
      return { url: page.url(), status: response.status(), headers: response.headers(), text };
    } finally {
      await page.close();
    }
  }

  /**
   * inspect checks what no other check covers: a wrong password, accessible names,
   * keys instead of a mouse, dark and small screens, and the page in a frame.
   */
  async inspect(url) {
    const page = await this.page();
    await page.goto(String(url));
    equal((await this.fill(page, "wrong")).status(), 403, "status after a wrong password");
    assert((await page.$eval("[role=alert]", (alert) => alert.innerText)).includes("wrong"), "the login page does not say what is wrong");
    equal(await page.$eval("html", (html) => html.lang), "en", "language");
    const light = await background(page);
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    assert((await background(page)) !== light, "the page is the same on a dark screen");
    await page.setViewport({ width: 320, height: 640 });
    await fits(page);
    await named(page, ["textbox", "button"]);
    // With the keyboard alone.
    await page.$eval("#name", (input) => (input.value = ""));
    await page.focus("#name");
    await page.keyboard.type(this.name);
    await page.keyboard.press("Tab");
    await page.keyboard.type(this.password);
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
    await named(page, ["checkbox", "button"]);
    await fits(page);
    await page.close();
    await this.framed(url);
  }

  /** framed has a page of another origin try to show this one in a frame. */
  async framed(url) {
    const page = await this.context.newPage();
    await page.setContent(`<iframe src="${String(url).replaceAll("&", "&amp;")}"></iframe>`);
    const frame = page.frames().find((frame) => frame !== page.mainFrame());
    assert(!frame || !(await frame.content()).includes("password"), "another page can frame the login page");
    await page.close();
  }
}

const background = (page) => page.$eval("body", (body) => getComputedStyle(body).backgroundColor);

async function fits(page) {
  const [content, window] = await page.$eval("html", (html) => [html.scrollWidth, html.clientWidth]);
  assert(content <= window, `the page is ${content} pixels wide on a screen of ${window}`);
}

/** named finds the elements of these roles in the accessibility tree; each must have a name. */
async function named(page, roles) {
  const found = [];
  const walk = (node) => {
    found.push(node);
    for (const child of node.children ?? []) walk(child);
  };
  walk(await page.accessibility.snapshot());
  for (const role of roles) {
    const elements = found.filter((node) => node.role === role);
    assert(elements.length > 0, `no ${role} on the page`);
    for (const { name } of elements) assert(name, `a ${role} has no name`);
  }
}
