// The pictures of the README, with what the reference server says. --shots DIR takes them; those in
// docs/images have been through "pngquant --nofs 128".

import { equal, until, ways } from "./lib.mjs";
import { inner } from "./lib/apps.mjs";

const size = { width: 1280, height: 800 };

export async function run(stage) {
  const { inspect } = await stage.reference(ways[3]);
  const tab = await stage.open(inspect.address, size);
  await tab.connected();

  await stage.check("a tool with an app", async () => {
    await tab.go("#/c1/tools/sales_report");
    const region = await tab.page.waitForSelector("main form select");
    await region.select(await region.evaluate((e) => [...e.options].find((option) => option.text === "emea").value));
    await tab.click("button", "Call");
    await tab.click("button", "Show the app");
    const frame = await inner(tab);
    await until(() => frame.evaluate(() => document.body.innerText.includes("Sales: Europe")), "the report");
    await tab.page.$eval("main .call-view", (e) => e.scrollIntoView());
    await tab.shot(stage.shots, "page-tools");
  });

  await stage.check("a question of the server", async () => {
    await tab.api("post", "/connections/c1/calls", { method: "tools/call", params: { name: "annual_report", arguments: {} } });
    await tab.go("#/c1/questions");
    await tab.named("button", "Accept");
    await tab.shot(stage.shots, "page-questions");
    await tab.click("button", "Decline");
  });

  await stage.check("two revisions side by side", async () => {
    const { id } = await tab.api("post", "/connections", { like: "c1", url: (await tab.api("get", "/connections/c1")).target.url, revision: "2025-11-25" });
    await tab.connected(id);
    await tab.go(`#/compare?a=c1&b=${id}`);
    await tab.sees("2025-11-25", "main");
    await tab.sees("2025-11-25", "#rail");
    equal(await tab.text("main h1"), "Compare", "heading");
    await tab.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    await tab.shot(stage.shots, "page-compare");
  });
}
