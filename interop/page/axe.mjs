// axe-core over every view, in both colours, with data in it: no violation.

import { assert, parley, until, ways } from "./lib.mjs";
import { places } from "./manners.mjs";

export async function run(stage) {
  const { inspect } = await stage.reference(ways[3], { serve: ["--log-level", "debug"] });
  const tab = await stage.open(inspect.address);
  await tab.connected();
  const more = await data(tab);
  for (const dark of [false, true]) {
    await tab.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
    for (const hash of [...(await places(tab)), ...more, "#/c99", "#/nowhere"]) {
      await stage.check(`${hash}, ${dark ? "dark" : "light"}`, async () => {
        await tab.go(hash);
        await judged(tab);
        const more = await deeper(tab);
        await shot(stage, tab, hash, dark);
        return more;
      });
    }
    await stage.check(`the dialog of a rule, ${dark ? "dark" : "light"}`, async () => {
      await tab.go("#/c1/questions?tab=rules");
      await tab.click("button", "Add a rule");
      for (const kind of await tab.page.$eval("dialog select", (select) => [...select.options].map(({ value }) => value))) {
        await tab.choose("dialog select", kind);
        await judged(tab);
      }
      await shot(stage, tab, "rule", dark);
      await tab.press("Escape");
      await tab.page.waitForFunction(() => !document.querySelector("dialog"), { polling: 50 });
    });
    await stage.check(`the same call made to both, ${dark ? "dark" : "light"}`, async () => {
      await tab.go("#/compare?a=c1&b=c2&tab=call");
      await tab.fill("Params", '{"name":"calculate","arguments":{"expression":"1+1"}}');
      await tab.click("button", "Call both");
      await tab.sees("What differs");
      await judged(tab);
      await shot(stage, tab, "call-both", dark);
    });
    await stage.check(`a template that was filled in and read, ${dark ? "dark" : "light"}`, async () => {
      await tab.go(more.find((hash) => hash.includes("template=")));
      await tab.page.waitForSelector("section.detail form [role=combobox]");
      await tab.click("button", "Read");
      await tab.page.waitForFunction(() => document.querySelector("section.detail .notice, section.detail pre, section.detail table, section.detail .json"), { polling: 50 });
      await judged(tab);
    });
    await stage.check(`the keys, ${dark ? "dark" : "light"}`, async () => {
      await tab.page.evaluate(() => document.activeElement.blur());
      await tab.press("?");
      await tab.page.waitForSelector("dialog[open]");
      await judged(tab);
      await tab.press("Escape");
      await tab.page.waitForFunction(() => !document.querySelector("dialog"), { polling: 50 });
    });
  }
  await outside(stage, inspect);
}

async function judged(tab) {
  const found = await tab.judge();
  assert(found.length === 0, found.join("\n"));
}

/**
 * data gives the views something to show: calls that succeed, fail and ask, connections that are compared or
 * failed, a judgement. It returns the places where that is seen besides the views themselves.
 */
async function data(tab) {
  const call = async (name, args) => (await tab.api("post", "/connections/c1/calls", { method: "tools/call", params: { name, arguments: args } })).id;
  const good = await call("calculate", { expression: "2 + 3 * 4" });
  const bad = await call("calculate", { expression: "2 +" });
  const drawn = await call("make_chart", { values: [1, 2, 3] });
  const sold = await call("sales_report", { region: "emea" });
  await call("annual_report", {}); // which asks
  const { exchange } = await until(async () => {
    const now = await tab.api("get", `/connections/c1/calls/${good}`);
    return now.ended && now;
  }, "the call");
  // A rule to be listed.
  await tab.api("put", "/connections/c1/rules", { on: false, rules: [{ name: "no forms", kind: "form", tool: "", text: "", action: "decline" }] });
  const template = (await tab.api("get", "/connections/c1/lists/templates")).items[0].uriTemplate;
  await tab.api("post", "/connections/c1/calls", { method: "resources/read", params: { uri: "server://nothing" } });
  await tab.api("post", "/connections", { args: [parley, "serve", "--stdio"], revision: "2024-11-05" });
  await tab.api("post", "/connections", { args: ["/nonexistent/server"] });
  await tab.connected("c2");
  const { id } = await tab.api("post", "/judgements", { connection: "c1", kind: "definitions" });
  await until(async () => (await tab.api("get", `/judgements/${id}`)).state !== "running", "the judgement");
  await until(async () => (await tab.api("get", "/connections/c1")).counts.questions > 0, "a question");
  return [
    `#/c1/tools/calculate?call=${good}`,
    `#/c1/tools/calculate?call=${bad}`,
    `#/c1/tools/make_chart?call=${drawn}`,
    `#/c1/tools/sales_report?call=${sold}`,
    "#/c3",
    ...["server", "tools", "resources", "templates", "prompts", "skills", "call"].map((kind) => `#/compare?a=c1&b=c2&tab=${kind}`),
    "#/c1/tools/calculate?tab=definition",
    "#/c1/tools/calculate?tab=history",
    `#/c1/traffic?exchange=${exchange}`,
    `#/c1/resources?template=${encodeURIComponent(template)}`,
    "#/c1/questions?tab=rules",
    "#/home?like=c1", // how the connection is made is changed there
  ];
}

/** deeper opens the first entries of a view's lists and judges what is shown then. */
async function deeper(tab) {
  const lists = await tab.page.$$("main [role=listbox]");
  for (const list of lists) {
    await list.focus();
    await tab.press("Home");
    await tab.press("Enter");
    await tab.settled();
    await judged(tab);
  }
  return lists.length > 0 ? `with ${lists.length} opened` : undefined;
}

const shot = (stage, tab, hash, dark) => tab.shot(stage.shots, `axe-${hash.replaceAll(/[^a-z0-9]+/g, "-")}-${dark ? "dark" : "light"}`);

/** outside is the page for those who are not let in. */
async function outside(stage, inspect) {
  const tab = await stage.open(inspect.address, { as: "outside" });
  stage.expect(/401/);
  await stage.check("the page without access", async () => {
    await tab.sees("This address has been used already.");
    await judged(tab);
  });
}
