// A hostile app (servers/hostile-app.mjs) in its frame. Apps run scripts of their own there; what
// they find out is in window.found.

import { assert, brief, equal, until } from "../lib.mjs";
import { inner, mount } from "./apps.mjs";
import { openAll } from "./guard.mjs";

/** apps shows an app that declares nothing and one that asks for everything and is granted nothing, and sees what they reach. */
export async function apps({ stage, tab, check }, canary) {
  // What the browser says of attempts that it foils, in the frames of the apps.
  stage.expect(/Content Security Policy|sandboxed|Permissions policy|Blocked|Unsafe attempt|Ignored call|ERR_BLOCKED|Failed to load resource|Refused|not allowed|Not allowed/);
  for (const name of ["app", "wide-app"]) {
    const on = (what, f) => check(`${name} · ${what}`, f);
    await on("it reaches nothing of the page, and nothing else", () => reaches(stage, tab, name));
    await on("forged messages, and methods that are not an app's, are refused", () => forges(stage, tab, name));
    if (name === "app") {
      await on("it calls what it may when it is allowed to, and nothing else", () => calls(tab));
      await on("a link is shown before it is opened, and can be refused", () => links(tab, canary));
      await on("a flood of messages leaves the page usable", () => floods(tab));
    }
    await on("an app that floods the page itself is stopped", async () => {
      const frame = await inner(tab);
      await frame.evaluate(() => window.floodTop(20_000));
      await tab.sees("It flooded this page with messages, and was stopped.");
      assert(!(await tab.page.$(".app-frame")), "its frame is still there");
      await tab.page.evaluate(() => globalThis.unmountApp());
    });
  }
  await check("an app that goes elsewhere before it has loaded is stopped", async () => {
    await show(tab, "early-app");
    await tab.sees("It tried to go elsewhere, and was stopped.");
    await tab.page.evaluate(() => globalThis.unmountApp());
  });
  for (const how of ["location", "fragment", "link", "page", "script"]) {
    await check(`an app that goes elsewhere is stopped (${how})`, async () => {
      await show(tab, "wide-app");
      const frame = await inner(tab);
      await until(() => frame.evaluate(() => window.leave !== undefined), "the script of the app");
      await frame.evaluate((how) => window.leave[how](), how).catch(() => {}); // the document may be gone already
      await tab.sees("It tried to go elsewhere, and was stopped.");
      await tab.page.evaluate(() => globalThis.unmountApp());
    });
  }
  await stage.check("no service worker and no other window is left", async () => {
    const targets = tab.page.browser().targets().filter((target) => target.browserContext() === tab.context && !["page", "tab", "other"].includes(target.type()));
    equal(brief(targets.map((target) => `${target.type()} ${target.url()}`)), "[]", "targets");
  });
}

async function show(tab, name) {
  await tab.go("#/c1/overview");
  await mount(tab, name);
  await tab.click("button", "Show the app");
}

const gotThrough = (found) => Object.entries(found).filter(([, text]) => text.startsWith("GOT"));

/** outcomes waits until all attempts have come to something. */
async function outcomes(tab) {
  const frame = await inner(tab);
  await until(() => frame.evaluate(() => window.found !== undefined && Object.values(window.found).every((text) => text !== "no answer yet")), "an outcome of all attempts");
  return frame.evaluate(() => window.found);
}

async function reaches(stage, tab, name) {
  await show(tab, name);
  const found = await outcomes(tab);
  await tab.shot(stage.shots, `hostile-${name}`);
  equal(brief(gotThrough(found)), "[]", "what it got");
  const count = Object.keys(found).length;
  assert(count > 35, `${count} attempts`);
  return `${count} attempts`;
}

async function forges(stage, tab, name) {
  const frame = await inner(tab);
  await frame.evaluate(() => window.begin());
  equal(brief(gotThrough(await outcomes(tab))), "[]", "what it got");
  const heard = await frame.evaluate(() => JSON.stringify(window.heard ?? []));
  const key = await tab.page.evaluate(() => Object.values(localStorage).join());
  assert(key.length > 20 && !heard.includes(key), "the app has heard the key");
  await openAll(tab);
  await tab.shot(stage.shots, `hostile-${name}-log`);
}

/** asks has the app ask, and answers with a button once the page shows the question. */
async function asks(tab, f, argument, question, button) {
  const frame = await inner(tab);
  const asked = frame.evaluate(f, argument);
  asked.catch(() => {}); // it is waited for below
  const text = await tab.sees(question);
  await tab.click("button", button);
  await asked;
  return { text, found: await frame.evaluate(() => window.found) };
}

async function calls(tab) {
  await asks(tab, (name) => window.askFor(name), "for-the-app", "The app asks to call the tool", "Allow once");
  const { found } = await asks(tab, (name) => window.askFor(name), "for-the-model", "The app asks to call the tool", "Allow once");
  assert(found["call for-the-app"].startsWith("GOT"), found["call for-the-app"]);
  assert(/^no: .*not for apps/.test(found["call for-the-model"]), found["call for-the-model"]);
}

async function links(tab, canary) {
  const to = `${canary.origin}/asked`;
  const { text, found } = await asks(tab, (url) => window.askToOpen(url), to, "The app asks to open a page of", "Refuse");
  assert(text.includes(to), `the address is not shown: ${brief(text)}`);
  equal(found["open asked"], "no: the user refused", "its answer");
}

async function floods(tab) {
  const frame = await inner(tab);
  await frame.evaluate(() => window.flood(20_000));
  await until(() => tab.page.$eval(".app-log", (log) => log.textContent.includes("messages were dropped")), "a word on messages that were dropped");
  const { length } = await tab.page.$$(".app-log tbody tr");
  assert(length <= 100, `the log shows ${length} rows`);
}
