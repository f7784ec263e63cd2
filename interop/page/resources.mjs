// Resources: found, read, completed and watched.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { assert, transports, until, ways } from "./lib.mjs";

export async function run(stage) {
  for (const way of ways) await files(stage, way);
  for (const transport of transports) await others(stage, transport);
}

async function files(stage, way) {
  const folder = mkdtempSync(join(tmpdir(), "parley-page-"));
  stage.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "notes.md"), "# Notes\n\nThe *first* ones.\n");
  writeFileSync(join(folder, "dot.png"), Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"));
  writeFileSync(join(folder, "data.bin"), Buffer.from([0, 1, 2, 255]));
  const { inspect } = await stage.reference(way, { serve: ["--root", folder] });
  const tab = await stage.open(inspect.address, { as: way.name });
  const check = (name, f) => stage.check(`${way.name} · ${name}`, f);
  const uri = (name) => pathToFileURL(join(folder, name)).href;
  const show = async (name) => {
    await tab.go(`#/c1/resources?uri=${encodeURIComponent(uri(name))}`);
    await tab.click("button", "Read");
  };

  await check("a resource of the list is picked, read, and read again after a reload", async () => {
    await tab.connected();
    await tab.go("#/c1/resources");
    await tab.fill("Search resources", "database schema", "searchbox");
    await tab.page.focus("[role=listbox]");
    await tab.press("Enter");
    await tab.sees("db://schema", "section.detail");
    await tab.click("button", "Read");
    await tab.sees("SQLite");
    await tab.page.reload();
    await tab.sees("SQLite");
    await tab.click("button", "Read again");
    await tab.settled();
    await tab.shot(stage.shots, `resource-${way.name.replace(" ", "-")}`);
  });

  await check("text is shown as what it is, images as images, bytes as hexadecimal digits", async () => {
    await show("notes.md");
    await tab.click("button", "Markdown");
    await tab.page.waitForSelector("section.detail .markdown em");
    await show("dot.png");
    await until(() => tab.page.evaluate(() => document.querySelector("section.detail img")?.naturalWidth === 1), "the image");
    await show("data.bin");
    await tab.sees("00 01 02 ff");
  });

  await check("updates are seen as they happen", async () => {
    await tab.go(`#/c1/resources?uri=${encodeURIComponent(uri("notes.md"))}`);
    await tab.click("button", "Subscribe");
    await tab.sees("has not said that it changed");
    // The server looks at the folder from time to time, and may only have begun to.
    let count = 0;
    await until(async () => {
      writeFileSync(join(folder, "notes.md"), `# Notes\n\nThe second ones, ${count++}.\n`);
      return (await tab.text()).includes("updated");
    }, "an update");
    await tab.click("button", "Read what it is now");
    await tab.sees("The second ones");
    await tab.shot(stage.shots, `watched-${way.name.replace(" ", "-")}`);
    await tab.pick("tab", "Watched");
    await tab.api("post", "/connections/c1/reconnect");
    await tab.sees("the subscription was interrupted");
    await tab.click("button", "Unsubscribe");
    await until(async () => (await tab.api("get", "/connections/c1/subscriptions")).subscriptions.length === 0, "no subscription");
  });

  await check("a template is filled in with what the server proposes", async () => {
    await tab.go("#/c1/resources?template=" + encodeURIComponent("db://tables/{table}"));
    await tab.fill("table", "ord", "combobox");
    await tab.page.waitForSelector(".complete [role=option]");
    await tab.press("ArrowDown");
    await tab.press("Enter");
    await tab.sees("db://tables/order", "output");
    await tab.shot(stage.shots, `template-${way.name.replace(" ", "-")}`);
    await tab.click("button", "Read");
    await tab.sees('"rows"');
    const [proposed] = await tab.page.$$eval("[role=combobox]", (inputs) => inputs.map((input) => input.value));
    assert(proposed.startsWith("order"), `the field has ${proposed}`);
  });

  await check("a resource that is not listed is opened by its URI, and an error says what is wrong", async () => {
    await tab.go("#/c1/resources");
    await tab.fill("By its URI", "server://nothing");
    await tab.press("Enter");
    await tab.sees("the server may have it all the same");
    await tab.click("button", "Read");
    await tab.page.waitForSelector(".notice.error");
    await tab.shot(stage.shots, `missing-${way.name.replace(" ", "-")}`);
  });
}

async function others(stage, transport) {
  await stage.check(`server-everything, ${transport} · resources, templates with completion, and updates`, async () => {
    const { inspect } = await stage.everything({ transport });
    const tab = await stage.open(inspect.address, { as: `server-everything, ${transport}` });
    await tab.connected();
    await tab.go("#/c1/resources");
    await tab.pick("tab", "Templates");
    await tab.page.focus("[role=tabpanel] [role=listbox]");
    await tab.press("Enter");
    await tab.page.waitForSelector("section.detail [role=combobox]");
    await tab.page.type("section.detail [role=combobox]", "1");
    await tab.click("button", "Read");
    await tab.sees("Resource 1");
    await tab.click("link", "Open as a resource");
    await tab.click("button", "Subscribe");
    await tab.sees("Watched", "section.detail");
    await tab.api("post", "/connections/c1/calls", { method: "tools/call", params: { name: "toggle-subscriber-updates", arguments: {} } });
    await tab.sees("updated", "section.detail");
    await tab.shot(stage.shots, `resource-everything-${transport}`);
  });
}
