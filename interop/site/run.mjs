// The documentation as a site, in a real browser: wide and narrow, light and dark, searched, and every
// link of it followed. `make docs` builds it. See ../README.md.

import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, relative, resolve, sep } from "node:path";
import { parseArgs } from "node:util";

import { assert, brief, equal, within } from "../lib/report.mjs";
import { Tab, launch, until } from "../page/lib.mjs";

const site = resolve(import.meta.dirname, "../../.tmp/site/html");
const { values: flags } = parseArgs({ options: { shots: { type: "string" } } });
if (!existsSync(join(site, "index.html"))) {
  console.error(`${site} has no site: make docs`);
  process.exit(2);
}
if (flags.shots) mkdirSync(flags.shots, { recursive: true });

const types = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2" };
const server = createServer((request, response) => {
  const path = resolve(site, `.${decodeURIComponent(new URL(request.url, "http://site").pathname)}`);
  const file = path.endsWith(sep) || path === site ? join(path, "index.html") : path;
  if (!file.startsWith(site) || !existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, { "Content-Type": types[extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const origin = `http://127.0.0.1:${server.address().port}`;

let passed = 0;
let failed = 0;
async function check(name, f) {
  try {
    const said = await within(60_000, Promise.resolve().then(f), name);
    passed++;
    console.log(`✓ ${name}${said ? ` · ${said}` : ""}`);
  } catch (error) {
    failed++;
    console.log(`✗ ${name}\n    ${String(error.stack ?? error).replaceAll("\n", "\n    ")}`);
  }
}

const names = readdirSync(site, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".html"))
  .map((entry) => relative(site, join(entry.parentPath, entry.name)).replaceAll(sep, "/"));
// mdBook makes print.html of all pages, toc.html of their list, and 404.html of nothing.
const pages = names.filter((name) => !["print.html", "toc.html", "404.html"].includes(name));

await check("every link leads to a page, and every fragment to a heading", () => {
  const texts = new Map(pages.map((name) => [name, readFileSync(join(site, name), "utf8")]));
  const ids = new Map([...texts].map(([name, text]) => [name, new Set([...text.matchAll(/\sid="([^"]+)"/g)].map((m) => m[1]))]));
  const bad = [];
  let count = 0;
  for (const [name, text] of texts) {
    for (const [, href] of text.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
      const to = new URL(href.replaceAll("&amp;", "&"), `http://site/${name}`);
      if (to.host !== "site") continue;
      count++;
      const file = decodeURIComponent(to.pathname.slice(1)) || "index.html";
      const fragment = decodeURIComponent(to.hash.slice(1));
      if (!existsSync(join(site, file))) bad.push(`${name}: ${href}`);
      else if (fragment && ids.has(file) && !ids.get(file).has(fragment)) bad.push(`${name}: ${href}, which is no heading there`);
    }
  }
  equal(bad.join("\n"), "", "links that lead nowhere");
  assert(count > 500, `only ${count} links were found`);
  return `${count} links of ${pages.length} pages`;
});

const browser = await launch();
for (const dark of [false, true]) {
  for (const width of [1280, 390]) {
    const how = `${width === 390 ? "narrow" : "wide"}, ${dark ? "dark" : "light"}`;
    for (const name of ["index.html", "servers.html", "gateway.html"]) {
      await check(`${name}, ${how}`, async () => {
        const tab = await Tab.open(browser, `${origin}/${name}`, { width, dark });
        await tab.page.waitForSelector("main h1");
        const seen = await tab.page.evaluate(() => ({
          wide: document.documentElement.scrollWidth - innerWidth,
          background: getComputedStyle(document.documentElement).backgroundColor,
          text: getComputedStyle(document.querySelector("main p")).color,
          broken: [...document.images].filter((image) => image.complete && image.naturalWidth === 0).map((image) => image.src),
        }));
        if (flags.shots) await tab.page.screenshot({ path: join(flags.shots, `site-${name}-${how.replace(", ", "-")}.png`) });
        assert(seen.wide <= 0, `it is ${seen.wide} pixels wider than the window`);
        equal(seen.broken.join(), "", "pictures that are not there");
        const [back, front] = [seen.background, seen.text].map(brightness);
        assert(dark ? back < 80 && front > 140 : back > 200 && front < 100, `text is ${seen.text} on ${seen.background}`);
        equal(tab.complaints.join("\n"), "", "what the browser complains about");
        await tab.context.close();
      });
    }
  }
}

await check("the search finds a page by its words", async () => {
  const tab = await Tab.open(browser, `${origin}/index.html`);
  await tab.page.waitForSelector("main h1");
  await tab.page.keyboard.press("s");
  await tab.page.waitForSelector("#mdbook-searchbar, #searchbar", { visible: true });
  await tab.page.keyboard.type("taskstore");
  await until(async () => (await tab.text("#mdbook-searchresults, #searchresults")).includes("Tasks"), "a result");
  const text = await tab.text("#mdbook-searchresults, #searchresults");
  await tab.context.close();
  return brief(text.split("\n")[0], 80);
});
await browser.close();
server.close();
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);

/** brightness is how bright a color is, from 0 to 255. */
function brightness(color) {
  const [r, g, b] = color.match(/\d+/g).map(Number);
  return 0.299 * r + 0.587 * g + 0.114 * b;
}
