// How the page behaves: with the keyboard alone, on dark and on narrow screens, over a reload,
// with links that lead into it, with lists of any length.

import { Tab, assert, equal, freePort, until, ways } from "./lib.mjs";
import { keys } from "./lib/pace.mjs";

export async function run(stage) {
  await visit(stage);
  await lists(stage);
  await gone(stage);
}

async function visit(stage) {
  const { inspect } = await stage.reference(ways[3]);
  const tab = await stage.open(inspect.address);
  const { page } = tab;

  await stage.check("the key leaves the address", async () => {
    await tab.connected();
    await tab.settled();
    equal(await page.evaluate(() => location.href), `${inspect.origin}/#/c1`, "address");
    assert(await page.evaluate(() => localStorage.getItem("parley-key")?.length === 26), "the page has no key");
    assert(!(await page.evaluate(() => document.cookie)), "a script can read the cookie");
  });

  await stage.check("an address opens the page once", async () => {
    const second = await Tab.open(stage.browser, inspect.address);
    await second.sees("This address has been used already.");
    await second.close();
    const third = await Tab.open(stage.browser, await inspect.another());
    await third.sees("Connect");
    await third.close();
  });

  await stage.check("without an address there is no access", async () => {
    const stranger = await Tab.open(stage.browser, `${inspect.origin}/`);
    await stranger.sees("This page has no access.");
    await stranger.close();
  });

  await stage.check("the keyboard reaches all: skip link, ?, g and a letter", async () => {
    await page.bringToFront(); // the others had the focus
    await page.reload();
    await tab.settled();
    await tab.press("Tab");
    equal((await tab.focused())?.name, "Skip to the view", "the first stop");
    await tab.press("Enter");
    await until(() => page.evaluate(() => document.activeElement.id === "main"), "focus after the skip link");
    await tab.press("?");
    await tab.sees("Move in a list".toLowerCase(), "dialog");
    await tab.press("Escape");
    await page.waitForFunction(() => !document.querySelector("dialog"), { polling: 50 });
    await until(() => page.evaluate(() => document.activeElement.id === "main"), "focus after the window is closed");
    await tab.go("#/c1");
    for (const [letter, view] of [["r", "resources"], ["l", "log"], ["o", "overview"], ["h", "home"]]) {
      await tab.press("g");
      await tab.press(letter);
      await until(() => page.evaluate((want) => location.hash.includes(want), view === "home" ? "#/home" : `/${view}`), `g ${letter} leads to ${view}`);
      await until(() => page.evaluate(() => document.activeElement.id === "main"), `focus in ${view}`);
    }
  });

  await stage.check("every stop of Tab is seen and has a name", async () => {
    await tab.go("#/c1");
    await page.reload();
    await tab.settled();
    const names = [];
    for (let i = 0; i < 40; i++) {
      await tab.press("Tab");
      const stop = await page.evaluate(() => {
        const e = document.activeElement;
        if (e === document.body) return null;
        const { width, height } = e.getBoundingClientRect();
        const style = getComputedStyle(e);
        return { html: e.outerHTML.slice(0, 120), seen: width > 0 && height > 0, outline: style.outlineStyle !== "none" || e.getAttribute("tabindex") === "-1" };
      });
      if (!stop) break;
      const { name } = (await tab.focused()) ?? {};
      assert(name, `what has the focus has no name: ${stop.html}`);
      assert(stop.seen && stop.outline, `the focus cannot be seen: ${stop.html}`);
      names.push(name);
    }
    assert(names.length > 5, `only ${names.join(", ")}`);
    return `${names.length} stops`;
  });

  await stage.check("a reload keeps where one is, and a link leads there", async () => {
    await tab.go("#/c1/resources");
    await page.reload();
    await tab.settled();
    equal(await page.evaluate(() => location.hash), "#/c1/resources", "place after a reload");
    assert((await page.title()).startsWith("Resources"), `title ${await page.title()}`);
    equal(await page.evaluate(() => document.querySelector("#rail [aria-current=page]")?.innerText), "Resources", "what the rail marks");
    const link = await tab.context.newPage();
    await link.goto(`${inspect.origin}/#/c1/log`);
    await link.waitForFunction(() => document.title.startsWith("Log"), { polling: 50 });
    await link.close();
  });

  await stage.check("seven tabs share one stream, and one goes on when the first is closed", async () => {
    const tabs = [];
    for (let i = 0; i < 7; i++) {
      const other = await tab.context.newPage();
      await other.goto(`${inspect.origin}/#/home`, { waitUntil: "load" });
      tabs.push(other);
    }
    const last = tabs[6];
    await last.bringToFront();
    await last.evaluate(async () => {
      const { live } = await import("/page.js");
      live.on("connection", (event) => (globalThis.heard = event));
    });
    const hear = async () => {
      await last.evaluate(() => (globalThis.heard = undefined));
      await tab.api("post", "/connections/c1/reconnect");
      await last.waitForFunction(() => globalThis.heard, { polling: 50 });
    };
    await hear();
    for (const other of tabs.slice(0, 6)) await other.close();
    await hear();
    await last.close();
    await page.bringToFront();
  });

  await stage.check("what was typed survives a reload", async () => {
    await tab.go("#/c1/tools");
    await tab.fill("Search tools", "report", "searchbox");
    await tab.sees("of 15 tools", "main");
    await page.reload();
    await tab.sees("of 15 tools", "main");
    equal(await page.$eval("[data-search]", (box) => box.value), "report", "the search after a reload");
    await tab.press("Escape");
    await tab.go("#/home");
    await tab.press("/"); // nothing to search here, and nothing happens
    await tab.go("#/c1/tools");
    await tab.press("/");
    await until(async () => (await tab.focused())?.name === "Search tools", "/ leads to the search");
    await tab.press("Escape");
  });

  await stage.check("secrets do not stay in the browser, and do not come back", async () => {
    const secret = "secret-of-the-header-4711";
    const url = (await tab.api("get", "/connections/c1")).target.url;
    await tab.go("#/home");
    await tab.fill("Server", url);
    await tab.click("button", "Add a header");
    await tab.fill("Name of header 1", "X-Team-Token");
    const field = await page.waitForSelector("main input[type=password], main [aria-label='Value of header 1']");
    await field.type(secret);
    const kept = () => page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
    assert(!(await kept()).includes(secret), "what is typed is kept");
    await tab.click("button", "Connect");
    const id = await until(async () => {
      const found = (await tab.api("get", "/connections")).connections.find((c) => c.id !== "c1" && c.state === "up");
      return found?.id;
    }, "a second connection");
    for (const path of ["/connections", `/connections/${id}`, `/connections/${id}/frames?limit=100`]) {
      const said = JSON.stringify(await tab.api("get", path));
      assert(!said.includes(secret), `${path} has the secret`);
    }
    for (const hash of await places(tab, id)) {
      await tab.go(hash);
      assert(!(await page.evaluate(() => document.documentElement.outerHTML)).includes(secret), `${hash} has the secret`);
    }
    assert(!(await kept()).includes(secret), "the secret is kept");
    await tab.api("del", `/connections/${id}`);
  });

  await stage.check("what is not there is said so", async () => {
    await tab.go("#/c99/tools");
    await tab.sees("no such connection", "main");
    await tab.go("#/nowhere");
    await tab.sees("no such view", "main");
  });

  await stage.check("dark and light differ", async () => {
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await ground();
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    assert((await ground()) !== light, "the page is the same on a dark screen");
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  });

  await stage.check("360 pixels are enough for every view", async () => {
    await page.setViewport({ width: 360, height: 740 });
    for (const hash of await places(tab)) {
      await tab.go(hash);
      try {
        await tab.fits();
      } catch (error) {
        throw new Error(`${hash}: ${error.message}`);
      }
    }
    await tab.click("button", "Menu");
    assert((await tab.named("link", "Compare")) !== null, "the menu does not open");
    await page.setViewport({ width: 1280, height: 860 });
  });
}

/** places are the addresses of all views. */
export async function places(tab, connection = "c1") {
  const { pages, views } = await tab.page.evaluate(async (id) => {
    const { views, pages, api } = await import("/page.js");
    const { connections } = await api.get("/connections");
    const its = connections.find((c) => c.id === id);
    return { pages: pages.map((p) => p.id), views: its ? views.filter((v) => v.shown(its)).map((v) => v.id) : [] };
  }, connection);
  return [...pages.map((id) => `#/${id}`), ...views.map((id) => `#/${connection}/${id}`)];
}

/** lists shows lists of a length that no document could have, with the page's own parts. */
async function lists(stage) {
  const inspect = await stage.inspect();
  const tab = await stage.open(inspect.address, { as: "lists" });
  const { page } = tab;
  for (const count of [0, 1, 10_000, 100_000]) {
    await stage.check(`a list of ${count}`, async () => {
      await page.evaluate(async (n) => {
        const { html, render, VirtualList } = await import("/page.js");
        const root = document.getElementById("page");
        render(null, root);
        globalThis.picked = [];
        globalThis.show = (length) =>
          render(html`<main style=${{ height: "500px", display: "flex", flexDirection: "column" }}><${VirtualList} count=${length} rowHeight=${28} row=${(i) => `row ${i}`} label="Rows" onPick=${(i) => globalThis.picked.push(i)} empty=${html`<p>nothing</p>`} /></main>`, root);
        globalThis.show(n);
      }, count);
      if (count === 0) {
        await tab.sees("nothing", "main");
        return undefined;
      }
      await page.focus("[role=listbox]");
      const active = () =>
        page.evaluate(() => {
          const box = document.querySelector("[role=listbox]");
          const row = document.getElementById(box.getAttribute("aria-activedescendant"));
          const [a, b] = [box.getBoundingClientRect(), row?.getBoundingClientRect()];
          return row ? { text: row.innerText, position: row.getAttribute("aria-posinset"), size: row.getAttribute("aria-setsize"), seen: b.top >= a.top - 1 && b.bottom <= a.bottom + 1, rows: box.querySelectorAll("[role=option]").length } : undefined;
        });
      const is = (want) =>
        until(async () => (await active())?.text === `row ${want}`, `row ${want} is active`, 5000).then(async () => {
          const now = await active();
          assert(now.seen, `row ${want} is not in sight`);
          equal(now.position, String(want + 1), "position");
          equal(now.size, String(count), "size");
          assert(now.rows <= 60, `${now.rows} rows are in the document`);
        });
      const last = count - 1;
      for (const [key, want] of [["ArrowDown", Math.min(1, last)], ["End", last], ["ArrowDown", last], ["ArrowUp", Math.max(0, last - 1)], ["Home", 0], ["PageDown", Math.min(last, 16)], ["PageUp", 0]]) {
        await tab.press(key);
        await is(want);
      }
      await tab.press("End");
      await is(last);
      await tab.press("Enter");
      equal(JSON.stringify(await page.evaluate(() => globalThis.picked)), `[${last}]`, "what was picked");
      const said = count > 1 ? await keys(stage, tab, ["Home", "ArrowDown", "PageDown", "End", "PageUp", "ArrowUp"]) : undefined;
      await page.evaluate(() => globalThis.show(1));
      await is2(page);
      return said;
    }, 240_000);
  }
}

/** is2 waits until a list that has become short shows its one row. */
const is2 = (page) => page.waitForFunction(() => document.querySelectorAll("[role=option]").length === 1 && document.querySelector("[role=option]").innerText === "row 0", { polling: 50 });

async function gone(stage) {
  stage.expect(/ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE|CONNECTION_RESET)/);
  const addr = `127.0.0.1:${await freePort()}`;
  const inspect = await stage.inspect(["--addr", addr]);
  const tab = await stage.open(inspect.address, { as: "gone" });
  await stage.check("that parley has ended is said", async () => {
    await tab.sees("Connect");
    const { code } = await inspect.end();
    equal(code, 0, "exit code");
    await tab.sees("The connection to parley is lost.");
  });

  await stage.check("a page of a run before has no access, and a new address mends it", async () => {
    stage.expect(/401/);
    const next = await stage.inspect(["--addr", addr]);
    equal(next.origin, inspect.origin, "origin");
    await tab.sees("This page has no access.");
    await tab.page.goto(next.address);
    await tab.sees("Connect to a server");
  });
}
