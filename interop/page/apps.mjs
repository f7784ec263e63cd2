// Apps of the reference server, beside the results of their tools, and of a server whose tool takes its time.

import { join } from "node:path";

import { assert, brief, equal, here, until, ways } from "./lib.mjs";
import { inner, mount, proxy } from "./lib/apps.mjs";

export async function run(stage) {
  await beforeResults(stage);
  for (const way of ways) {
    const { inspect } = await stage.reference(way);
    const tab = await stage.open(inspect.address, { as: way.name });
    const check = (name, f) => stage.check(`${way.name} · ${name}`, f);

    await check("an app is shown with the result of its tool", async () => {
      await tab.connected();
      await tab.go("#/c1/overview");
      await mount(tab, "sales_report", { region: "emea" });
      await tab.click("button", "Show the app");
      const frame = await inner(tab);
      await until(() => frame.evaluate(() => document.body.innerText.includes("Sales: Europe")), "the report");
      await tab.shot(stage.shots, `app-${way.name.replace(" ", "-")}`);
    });

    await check("the frame has an origin of its own, and the app none", async () => {
      const frame = await inner(tab);
      const page = new URL(tab.page.url());
      const outer = new URL(proxy(tab).url());
      equal(outer.hostname, "localhost", "host of the frame");
      assert(outer.port !== page.port, "the frame has the port of the page");
      equal(await frame.evaluate(() => self.origin), "null", "origin of the app");
      equal(await proxy(tab).evaluate(() => document.cookie), "", "cookies at the frame's origin");
    });

    await check("the app calls a tool when it is allowed to", async () => {
      const frame = await inner(tab);
      await frame.click("button[value=apac]");
      await tab.sees("The app asks to call the tool");
      await tab.shot(stage.shots, `app-asks-${way.name.replace(" ", "-")}`);
      await tab.click("button", "Refuse");
      await until(() => frame.evaluate(() => !document.body.innerText.includes("Sales: Asia")), "no report of Asia");
      await frame.click("button[value=apac]");
      await tab.click("button", "Allow this tool while the app is open");
      await until(() => frame.evaluate(() => document.body.innerText.includes("Sales: Asia")), "the report of Asia");
      await frame.click("button[value=amer]");
      await until(() => frame.evaluate(() => document.body.innerText.includes("Sales: Americas")), "the report of the Americas, without a question");
    });

    await check("the app learns of the theme", async () => {
      const frame = await inner(tab);
      const scheme = () => frame.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
      await tab.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
      await until(async () => (await scheme()) === "dark", "a dark app");
      await tab.shot(stage.shots, `app-dark-${way.name.replace(" ", "-")}`);
      await tab.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
      await until(async () => (await scheme()) === "light", "a light app");
    });

    await check("all messages are in the log", async () => {
      await tab.page.evaluate(() => document.querySelector(".app-log summary").click());
      const text = await tab.sees("ui/notifications/tool-result", ".app-log");
      for (const message of ["ui/initialize", "ui/notifications/initialized", "ui/notifications/tool-input", "tools/call", "ui/notifications/host-context-changed"]) {
        assert(text.includes(message), `the log lacks ${message}: ${text}`);
      }
      await tab.shot(stage.shots, `app-log-${way.name.replace(" ", "-")}`);
      equal((await tab.judge()).join("\n"), "", "accessibility");
    });

    await check("the app fits its frame, and closes", async () => {
      const height = await tab.page.$eval(".app-frame", (frame) => frame.clientHeight);
      const frame = await inner(tab);
      assert(height >= (await frame.evaluate(() => document.documentElement.scrollHeight)) - 2, `the frame is ${height} pixels high`);
      await tab.page.setViewport({ width: 360, height: 800 });
      await tab.fits();
      await tab.shot(stage.shots, `app-narrow-${way.name.replace(" ", "-")}`);
      await tab.click("button", "Close the app");
      await tab.page.waitForSelector(".app-frame", { hidden: true });
      await tab.page.setViewport({ width: 1280, height: 860 });
    });
  }
}

/** beforeResults is what an app sees of a call from its beginning to each of its ends. */
async function beforeResults(stage) {
  const inspect = await stage.inspect(["--", process.execPath, join(here, "servers/slow-app.mjs")]);
  const tab = await stage.open(inspect.address, { as: "slow app" });
  const api = (method, path, ...args) => tab.api(method, `/connections/c1/calls${path}`, ...args);
  const finish = (fail) => api("post", "", { method: "tools/call", params: { name: "finish", arguments: { fail } } });
  const heard = async () => (await inner(tab)).evaluate(() => window.heard ?? []);
  /** told waits until the app was told so much, and returns it by methods, without what it learns of the page. */
  const told = (count) =>
    until(async () => {
      const all = (await heard()).filter(({ method }) => method.startsWith("ui/notifications/tool"));
      return all.length >= count && all;
    }, `${count} messages to the app`);
  /** begin calls the tool, and shows its app while the call runs. */
  const begin = async () => {
    await tab.go("#/c1/tools/wait");
    await tab.click("button", "Call");
    await tab.click("button", "Show the app");
    const [input] = await told(1);
    equal(input.method, "ui/notifications/tool-input", "the first message");
    const { calls } = await api("get", "");
    equal(calls[0].state, "running", "the call");
  };

  await stage.check("an app is shown while its call runs, and has the input before the result", async () => {
    await tab.connected();
    await begin();
    assert(!(await tab.text("section.call-view")).includes("it is there"), "the result is there");
    equal((await tab.judge()).join("\n"), "", "axe");
    await tab.shot(stage.shots, "app-while-running");
    await finish(false);
    await tab.sees("it is there", "section.call-view");
    const all = await told(2);
    equal(brief(all.map(({ method }) => method)), brief(["ui/notifications/tool-input", "ui/notifications/tool-result"]), "messages to the app");
    equal(all[1].params.content[0].text, "it is there", "the result");
  });

  await stage.check("the result of a tool that failed reaches its app, too", async () => {
    await begin();
    await finish(true);
    await tab.sees("The tool says that it failed.");
    const all = await told(2);
    equal(all[1].method, "ui/notifications/tool-result", "the second message");
    equal(all[1].params.isError, true, "isError");
  });

  await stage.check("an app learns that its call was cancelled, and why", async () => {
    await begin();
    await tab.fill("Reason for cancelling", "no longer needed");
    await tab.click("button", "Cancel");
    await tab.sees("Cancelled", "section.call-view");
    const all = await told(2);
    equal(brief(all.map(({ method }) => method)), brief(["ui/notifications/tool-input", "ui/notifications/tool-cancelled"]), "messages to the app");
    assert(all[1].params.reason.includes("no longer needed"), `the reason is ${brief(all[1])}`);
    await tab.click("button", "Close the app");
    await tab.page.waitForSelector(".app-frame", { hidden: true });
  });

  await stage.check("a call that was cancelled before anybody looked has no app", async () => {
    const { calls } = await api("get", "");
    await tab.go("#/c1/overview");
    await tab.go(`#/c1/tools/wait?call=${calls.find(({ state }) => state === "cancelled").id}`);
    await tab.sees("Cancelled", "section.call-view");
    assert(!(await tab.page.$("section.app")), "an app is offered");
  });
}
