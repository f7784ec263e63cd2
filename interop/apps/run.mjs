// The official host of MCP Apps in a real browser, with the app of `parley serve`. See
// ../README.md.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import puppeteer from "puppeteer-core";

import { server } from "../lib/reference.mjs";
import { Report, assert, brief, equal } from "../lib/report.mjs";
import { serveHTTP } from "../lib/serve.mjs";
import { hostPages, sandboxPages } from "./pages.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const parley = process.env.PARLEY ? resolve(process.env.PARLEY) : resolve(root, ".tmp/parley");
const names = ["chromium", "chromium-browser", "google-chrome"];
const chromium = process.env.CHROMIUM ?? names.map((name) => spawnSync("which", [name], { encoding: "utf8" }).stdout?.trim()).find(Boolean);
const limit = 30_000;

// What a host must enforce for an app that declares nothing.
const policy =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  "media-src 'self' data:; connect-src 'none'; frame-src 'none'; base-uri 'self'; object-src 'none'; form-action 'none'";

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" }, // a part of a row's name
    shots: { type: "string" }, // a folder for screenshots
    trace: { type: "boolean", default: false }, // what the browser says, to standard error
  },
});

for (const [file, how] of [
  [parley, "go build -o .tmp/parley ./cmd/parley, or set PARLEY"],
  [chromium, "apt-get install chromium, or set CHROMIUM"],
]) {
  if (!file || !existsSync(file)) {
    console.error(`${file ?? "Chromium"} does not exist: ${how}`);
    process.exit(2);
  }
}
if (flags.shots) mkdirSync(flags.shots, { recursive: true });

const columns = ["connect", "read", "show", "call", "failure", "theme", "fits", "access", "teardown", "quiet"];
const report = new Report("host with the app of parley serve", columns);
const rows = [
  { name: "AppBridge 2.0.4, 2026-07-28", mode: { pin: "2026-07-28" }, revision: "2026-07-28" },
  { name: "AppBridge 2.0.4, 2025-11-25", mode: "legacy", revision: "2025-11-25" },
].filter(({ name }) => !flags.only || name.includes(flags.only));

const host = await hostPages();
const sandbox = await sandboxPages(policy);
const served = await serveHTTP(parley, ["--allow-origin", host.origin]);
const browser = await puppeteer.launch({
  executablePath: chromium,
  headless: true,
  // Its sandbox does not work for root, as in most containers.
  args: ["--no-first-run", "--disable-gpu", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
});
process.once("exit", () => browser.process()?.kill("SIGKILL"));

for (const row of rows) await walk(row);
await browser.close();
await served.end();
host.close();
sandbox.close();
report.print();
process.exit(report.failed > 0 || report.passed === 0 ? 1 : 0);

/** walk goes through all checks with one client. */
async function walk({ name, mode, revision }) {
  const row = report.row(name);
  const complaints = [];
  const page = await browser.newPage();
  page.on("console", (message) => {
    if (flags.trace) console.error(message.type(), message.text());
    // Every browser asks for an icon of its own accord.
    if (["error", "warn"].includes(message.type()) && !message.location().url?.endsWith("/favicon.ico")) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.setViewport({ width: 900, height: 700 });
  await page.goto(host.origin);
  const hosting = (method, ...args) => page.evaluate((method, args) => globalThis.hosting[method](...args), method, args);
  const check = (column, run) => report.check(row, column, limit, run);
  const tool = server.structured;
  let app;

  await check("connect", async () => {
    const got = await hosting("connect", `${served.origin}/mcp`, mode);
    if (got.revision) equal(got.revision, revision, "revision");
    equal(JSON.stringify(got.extension), "{}", "what the server declares");
    equal(JSON.stringify(got.apps), JSON.stringify({ [tool.name]: "ui://sales/report.html" }), "tools with apps");
  });
  await check("read", async () => {
    app = await hosting("read", "ui://sales/report.html");
    equal(app.count, 1, "contents");
    equal(app.mimeType, "text/html;profile=mcp-app", "MIME type");
    equal(JSON.stringify(app.ui), `{"prefersBorder":true}`, "what it needs");
  });
  await check("show", async () => {
    const hostContext = { theme: "light", locale: "de-DE", platform: "web", containerDimensions: { width: 876, maxHeight: 2000 } };
    const got = await hosting("show", { sandbox: sandbox.origin, html: app.html, ui: app.ui, name: tool.name, args: tool.arguments, hostContext });
    equal(got.app.name, "parley-sales-report", "name of the app");
    const { structuredContent: facts } = got.result;
    const shown = await settled(page, "Sales: Europe");
    equal(shown.orders, String(facts.orders), "orders");
    equal(shown.customers, String(facts.customers), "customers");
    equal(shown.revenue, new Intl.NumberFormat("de-DE", { minimumFractionDigits: 2 }).format(facts.revenue_cents / 100), "revenue, in the host's language");
    equal(shown.products.join(), facts.top_products.map(({ name }) => name).join(), "products");
    assert(shown.bars[0] > shown.bars.at(-1) && shown.bars.at(-1) > 0, `bars are ${shown.bars} pixels wide`);
  });
  await check("call", async () => {
    const frame = await inner(page);
    await frame.click("button[value=apac]");
    const shown = await settled(page, "Sales: Asia-Pacific");
    equal(shown.pressed, "apac", "the region that is marked");
    const contexts = await page.evaluate(() => globalThis.hosting.seen.contexts);
    equal(contexts.length, 1, "updates of the model's context");
    assert(contexts[0].content[0].text.includes("apac"), brief(contexts));
  });
  await check("failure", async () => {
    await hosting("result", { content: [{ type: "text", text: "<b>no</b> such region" }], isError: true });
    await until(page, ({ status }) => status === "<b>no</b> such region", "the failure is shown, as text");
    await hosting("result", { content: [{ type: "text", text: "nothing" }] });
    await until(page, ({ status }) => status === "The report cannot be read.", "a result that is no report is");
    await hosting("cancel");
    await until(page, ({ status }) => status === "The report was cancelled.", "so is a cancellation");
    const frame = await inner(page);
    await frame.click("button[value=amer]");
    await settled(page, "Sales: Americas");
  });
  await check("theme", async () => {
    const colors = [];
    for (const theme of ["light", "dark"]) {
      await hosting("context", { theme });
      await until(page, (shown) => shown.scheme === theme, `the theme ${theme}`);
      const { background, color, contrast } = await look(page);
      colors.push(background);
      assert(contrast >= 4.5, `${color} on ${background} has a contrast of ${contrast.toFixed(1)}`);
      await shoot(page, `${revision}-${theme}-wide`);
    }
    assert(colors[0] !== colors[1], `light and dark are both ${colors[0]}`);
    await hosting("context", { theme: "dark", styles: { variables: { "--color-background-primary": "rgb(1, 2, 3)" } } });
    await until(page, ({ background }) => background === "rgb(1, 2, 3)", "the host's own color");
  });
  await check("fits", async () => {
    await page.setViewport({ width: 320, height: 900 });
    for (const theme of ["light", "dark"]) {
      await hosting("context", { theme, styles: { variables: { "--color-background-primary": "" } } });
      await until(page, ({ scheme, height, frame }) => scheme === theme && height === frame, "a frame as high as the app");
      const { content, window } = await look(page);
      assert(content <= window, `the app is ${content} pixels wide in a frame of ${window}`);
      await shoot(page, `${revision}-${theme}-narrow`);
    }
  });
  await check("access", async () => {
    const frame = await inner(page);
    equal(await frame.$eval("html", ({ lang }) => lang), "en", "language");
    const tree = flat(await page.accessibility.snapshot({ includeIframes: true }));
    for (const region of ["Americas", "Asia-Pacific", "Europe, Middle East, Africa"]) {
      assert(tree.some(({ role, name }) => role === "button" && name === region), `no button ${region} in ${brief(tree.map(({ role, name }) => [role, name]))}`);
    }
    await frame.focus("button[value=amer]");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await settled(page, "Sales: Asia-Pacific");
  });
  await check("teardown", async () => {
    equal(JSON.stringify(await hosting("teardown")), "{}", "the app's answer");
    await hosting("close");
  });
  await check("quiet", () => equal(complaints.join("\n"), "", "complaints of the browser"));
  await page.close();
}

/** inner returns the frame that the app is in. */
async function inner(page) {
  for (const frame of page.frames()) if (frame.parentFrame()?.parentFrame() === page.mainFrame()) return frame;
  throw new Error("the app is not in a frame");
}

/** look returns what the app shows. */
async function look(page) {
  const frame = await inner(page);
  const shown = await frame.evaluate(() => {
    const text = (id) => document.getElementById(id).textContent;
    const all = (selector, of) => [...document.querySelectorAll(selector)].map(of);
    const { backgroundColor: background, color } = getComputedStyle(document.body);
    const luminance = (rgb) => {
      const [r, g, b] = rgb.match(/[\d.]+/g).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const [dark, bright] = [luminance(color), luminance(background)].sort((a, b) => a - b);
    return {
      title: text("title"),
      status: text("status"),
      revenue: text("revenue"),
      orders: text("orders"),
      customers: text("customers"),
      products: all("tbody th", (cell) => cell.textContent),
      bars: all(".bar", (bar) => bar.getBoundingClientRect().width),
      pressed: document.querySelector("[aria-pressed=true]")?.value,
      scheme: getComputedStyle(document.documentElement).colorScheme,
      background,
      color,
      contrast: (bright + 0.05) / (dark + 0.05),
      content: document.documentElement.scrollWidth,
      window: document.documentElement.clientWidth,
      height: Math.ceil(document.body.getBoundingClientRect().height),
    };
  });
  shown.frame = await page.$eval("iframe", (iframe) => iframe.clientHeight);
  return shown;
}

/** until waits until what the app shows is as it should be. */
async function until(page, ready, what) {
  const end = Date.now() + 10_000;
  for (;;) {
    const shown = await look(page);
    if (ready(shown)) return shown;
    assert(Date.now() < end, `${what} did not come: ${brief(shown, 1000)}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** settled waits for a report with a title, and until its bars have grown. */
async function settled(page, title) {
  await until(page, (shown) => shown.title.startsWith(title) && shown.status === "", `the report ${title}`);
  const frame = await inner(page);
  await frame.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished)));
  return look(page);
}

async function shoot(page, name) {
  if (flags.shots) await page.screenshot({ path: join(flags.shots, `${name}.png`) });
}

function flat(node) {
  return [node, ...(node?.children ?? []).flatMap(flat)];
}
