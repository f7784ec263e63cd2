// Traffic: what was sent and what came is found, read, copied and exported; of 100,000 frames too.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { har as validHAR } from "har-validator";

import { assert, brief, equal, here, transports, until, ways } from "./lib.mjs";
import { keys } from "./lib/pace.mjs";

export async function run(stage) {
  for (const way of ways) await seen(stage, way);
  for (const transport of transports) await official(stage, transport);
  await resumed(stage);
  await flooded(stage);
  await progressed(stage);
}

const call = (tab, params) => tab.api("post", "/connections/c1/calls", { method: "tools/call", params });
const frames = "[role=listbox][aria-label='Frames']";

async function seen(stage, way) {
  const { inspect } = await stage.reference(way);
  const tab = await stage.open(inspect.address, { as: way.name });
  const at = (text) => `${way.name}: ${text}`;

  await stage.check(at("frames of both directions are listed and found"), async () => {
    await tab.connected();
    await call(tab, { name: "calculate", arguments: { expression: "40+2" } });
    await tab.go("#/c1/traffic");
    await tab.sees("tools/call");
    await tab.fill("Search frames", "40+2", "searchbox");
    await until(() => tab.page.evaluate((list) => document.querySelectorAll(`${list} [role=option]`).length === 1, frames), "one frame");
  });

  await stage.check(at("what comes is found, and only what is new is searched"), async () => {
    const searched = [];
    const note = (request) => request.url().includes("/frames/numbers?") && searched.push(new URL(request.url()).searchParams);
    tab.page.on("request", note);
    await call(tab, { name: "calculate", arguments: { expression: "40+2" } });
    await until(() => tab.page.evaluate((list) => document.querySelectorAll(`${list} [role=option]`).length === 2, frames), "another frame");
    tab.page.off("request", note);
    assert(searched.length > 0 && searched.every((query) => Number(query.get("after")) > 0 && query.get("q") === "40+2"), `searched for ${searched.join(" and ")}`);
  });

  await stage.check(at("a method can be read at 360 pixels"), async () => {
    await tab.page.setViewport({ width: 360, height: 740 });
    await tab.sees("tools/call", frames);
    const [room, needed] = await tab.page.$eval(`${frames} [role=option] .what`, (what) => [what.clientWidth, 10 * parseFloat(getComputedStyle(what).fontSize) * 0.6]);
    assert(room >= needed, `${room} pixels for tools/call, which needs ${needed}`);
    await tab.shot(stage.shots, `traffic-narrow-${way.name.replace(" ", "-")}`);
    await tab.page.setViewport({ width: 1280, height: 860 });
  });

  await stage.check(at("a frame is read, with what belongs to it"), async () => {
    await tab.page.focus(frames);
    await tab.press("Home");
    await tab.press("Enter");
    await tab.sees("tools/call", ".pane.detail");
    await tab.click("tab", "Raw");
    await tab.sees('"method":"tools/call"', ".pane.detail");
    await tab.click("tab", "Exchange");
    await tab.sees("Copy as", ".pane.detail");
    await tab.sees("done", ".pane.detail");
    await tab.shot(stage.shots, `traffic-${way.revision}-${way.transport}`);
  });

  await stage.check(at("a request is copied"), async () => {
    await tab.click("button", "Go test");
    await tab.sees("func Test", ".pane.detail");
    await tab.click("button", "parley command");
    await tab.sees("calculate", ".pane.detail .copied");
    await tab.click("button", "curl");
    await tab.sees(way.transport === "HTTP" ? "curl" : "jsonrpc", ".pane.detail");
  });

  await stage.check(at("the traffic is exported"), async () => {
    const text = (form) => tab.page.evaluate(async (f) => (await (await import("/page.js")).api.blob(`/connections/c1/export/${f}`)).text(), form);
    const lines = (await text("jsonl")).trim().split("\n").map((line) => JSON.parse(line));
    assert(lines.length > 3, `there are ${lines.length} lines`);
    const har = JSON.parse(await text("har"));
    equal(har.log.version, "1.2", "the version of HAR");
    await validHAR(har).catch(({ errors }) => {
      throw new Error(`the HAR is not valid: ${brief(errors, 2000)}`);
    });
    const entries = har.log.entries.filter(({ request }) => (request.postData?.text ?? "").includes("40+2"));
    const messages = har.log.entries.flatMap(({ _webSocketMessages }) => _webSocketMessages ?? []).filter(({ data }) => data.includes("40+2"));
    equal(way.transport === "HTTP" ? entries.length : messages.length, 2, "how many of the two calls are in the HAR");
  });

  if (way === ways.at(-1)) {
    await stage.check(at("exports are files that the browser saves"), async () => {
      const saved = async (form) => {
        await tab.click("button", "Export");
        return tab.download(() => tab.pick("menuitem", form));
      };
      await tab.fill("Search frames", "40+2", "searchbox");
      await until(() => tab.page.evaluate((list) => document.querySelectorAll(`${list} [role=option]`).length === 2, frames), "the two calls");
      const lines = await saved("JSON lines");
      equal(lines.name, "parley-c1.jsonl", "the name of the file");
      const messages = lines.bytes.toString().trim().split("\n").map((line) => JSON.parse(line));
      equal(messages.length, 2, "frames in the file, which are those that were searched for");
      assert(messages.every((message) => JSON.stringify(message).includes("40+2")), `the frames are ${brief(messages, 1000)}`);
      const har = await saved("HAR");
      equal(har.name, "parley-c1.har", "the name of the file");
      const log = JSON.parse(har.bytes.toString());
      await validHAR(log).catch(({ errors }) => {
        throw new Error(`the HAR is not valid: ${brief(errors, 2000)}`);
      });
      assert(log.log.entries.some(({ request }) => request.postData?.text.includes("40+2")), "the HAR lacks the calls");
      return `${lines.bytes.length} and ${har.bytes.length} bytes`;
    });
  }

  await stage.check(at("frames are forgotten by those only who mean it"), async () => {
    await tab.fill("Search frames", "", "searchbox");
    await tab.click("button", "Clear");
    await tab.sees("What was recorded so far is gone then.", "dialog");
    await tab.click("button", "Leave it");
    await tab.sees("tools/call", frames);
  });

  if (way.transport !== "HTTP") return;
  await stage.check(at("the network is broken, and what comes of it is shown"), async () => {
    await tab.fill("Search frames", "", "searchbox");
    await tab.click("button", "Break the network");
    await tab.sees("The network was broken", "dialog");
    await tab.press("Escape");
  });
}

async function official(stage, transport) {
  await stage.check(`server-everything, ${transport}: its frames, and what belongs to a request`, async () => {
    const { inspect } = await stage.everything({ transport });
    const tab = await stage.open(inspect.address, { as: `server-everything, ${transport}` });
    await tab.connected();
    const { id } = await call(tab, { name: "trigger-long-running-operation", arguments: { duration: 1, steps: 4 } });
    const done = await until(async () => {
      const now = await tab.api("get", `/connections/c1/calls/${id}`);
      return now.ended && now;
    }, "the end of the call");
    await tab.go(`#/c1/traffic?exchange=${done.exchange}`);
    const text = await tab.sees("notifications/progress", ".pane.detail");
    for (const part of ["trigger-long-running-operation", "Copy as", "done"]) assert(text.includes(part), `no ${part} in ${brief(text, 1500)}`);
    await tab.go("#/c1/traffic");
    await tab.fill("Search frames", "mcp-servers/everything", "searchbox");
    await until(() => tab.page.evaluate((list) => document.querySelectorAll(`${list} [role=option]`).length === 1, frames), "the frame with its name");
    await tab.page.focus(frames);
    await tab.press("Home");
    await tab.press("Enter");
    await tab.sees("initialize", ".pane.detail");
    if (transport === "HTTP") {
      await tab.click("tab", "HTTP");
      await tab.sees("mcp-session-id", ".pane.detail");
    }
    await tab.shot(stage.shots, `traffic-everything-${transport}`);
  });
}

async function resumed(stage) {
  const { inspect } = await stage.reference({ revision: "2025-11-25", transport: "HTTP" });
  const tab = await stage.open(inspect.address, { as: "resumed" });
  const steps = 40;
  const progress = async () => {
    const { frames: seen } = await tab.api("get", "/connections/c1/frames", { kind: "notification", method: "notifications/progress", limit: 200 });
    return seen;
  };

  await stage.check("2025-11-25 HTTP: a stream that breaks off is resumed, and what came then is shown with the IDs of its events", async () => {
    await tab.connected();
    await tab.go("#/c1/traffic");
    const { id } = await call(tab, { name: "count_slowly", arguments: { steps, delay_ms: 100 } });
    await until(async () => (await progress()).length >= 3, "progress");
    await tab.click("button", "Break the network");
    await tab.sees("The network was broken", "dialog");
    await tab.sees("asked for the stream again after event", "dialog");
    const done = await until(async () => {
      const now = await tab.api("get", `/connections/c1/calls/${id}`);
      return now.ended && now;
    }, "the result");
    equal(done.state, "done", "the call");
    const all = await progress();
    equal(all.map(({ event }) => event).length, new Set(all.map(({ event }) => event)).size, "progress without repetitions");
    equal(all.length, steps, "messages about progress, none lost and none twice");
    const resumption = await until(async () => {
      const { streams } = await tab.api("get", "/connections/c1/resume", { after: all[0].n });
      return streams.find(({ lastEvent, total }) => lastEvent && total > 0);
    }, "the stream that was resumed");
    const { frames: before } = await tab.api("get", "/connections/c1/frames", { before: resumption.replayed[0], direction: "received", limit: 200 });
    equal(resumption.lastEvent, before.filter(({ event, kind }) => event && kind !== "http").at(-1).event, "the event after which the stream was resumed");
    const last = all.at(-1);
    await tab.sees(last.event, "dialog table");
    const rows = await tab.page.$$eval("dialog tbody tr", (found) => found.map((row) => row.cells[1].innerText));
    assert(!rows.includes(resumption.lastEvent), "an event was sent twice");
    await tab.shot(stage.shots, "traffic-resumed");
    equal((await tab.judge()).join("\n"), "", "axe");
    await tab.press("Escape");
    await tab.go(`#/c1/traffic?exchange=${last.exchange}`);
    await tab.sees("the rest of its stream", ".pane.detail");
    await tab.shot(stage.shots, "traffic-resumed-exchange");
    return `${rows.length} events came after the break`;
  });
}

/** rss is the memory of a process, in MiB. */
const rss = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;

async function flooded(stage) {
  const inspect = await stage.inspect(["--", process.execPath, join(here, "servers/flood.mjs")]);
  const tab = await stage.open(inspect.address, { as: "flood" });
  await tab.connected();
  const before = rss(inspect.pid);

  await stage.check("100,000 frames are recorded, in bounded memory", async () => {
    await call(tab, { name: "flood", arguments: { count: 100_000 } });
    await until(async () => (await tab.api("get", "/connections/c1/traffic")).state.last > 100_000, "100,000 frames", 100_000);
    const more = rss(inspect.pid) - before;
    assert(more < 300, `the server takes ${more.toFixed(0)} MiB more`);
    return `${more.toFixed(0)} MiB more`;
  });

  await stage.check("with 100,000 frames a key is answered in time", async () => {
    const said = await keys(stage, tab, ["Home", "ArrowDown", "PageDown", "End", "PageUp", "ArrowUp"], {
      list: frames,
      filled: ".what",
      // A view that was left has forgotten its rows, so that those at the beginning are fetched each time.
      before: async () => {
        await tab.go("#/c1");
        await tab.go("#/c1/traffic");
        await tab.page.waitForSelector(`${frames} [role=option] .what`);
        await tab.page.focus(frames);
        await tab.press("End");
        await until(() => tab.page.$eval(frames, (list) => document.getElementById(list.getAttribute("aria-activedescendant"))?.getAttribute("aria-posinset") === document.querySelector("[role=option]").getAttribute("aria-setsize")), "the last frame");
      },
    });
    await tab.shot(stage.shots, "traffic-many");
    return said;
  }, 240_000);

  await stage.check("one of 100,000 frames is found", async () => {
    await tab.fill("Search frames", "drop 77777 of", "searchbox");
    await until(() => tab.page.evaluate((list) => document.querySelectorAll(`${list} [role=option]`).length === 1, frames), "the frame");
  });
}

async function progressed(stage) {
  const inspect = await stage.inspect(["--", process.execPath, join(here, "servers/flood.mjs")]);
  const tab = await stage.open(inspect.address, { as: "progress" });
  const count = 20_000;
  const timeline = "[role=listbox][aria-label='Frames of the exchange']";
  let exchange;

  await stage.check("an exchange of 20,000 frames is opened", async () => {
    await tab.connected();
    const { id } = await call(tab, { name: "wade", arguments: { count } });
    const done = await until(async () => {
      const now = await tab.api("get", `/connections/c1/calls/${id}`);
      return now.ended && now;
    }, "the end of the call", 100_000);
    exchange = done.exchange;
    await tab.go(`#/c1/traffic?exchange=${exchange}`);
    await tab.page.waitForSelector(`${timeline} [role=option] .what`);
    equal(await tab.page.$eval(`${timeline} [role=option]`, (row) => row.getAttribute("aria-setsize")), String(count + 2), "frames: the request, its progress and its answer");
    const rows = await tab.page.$$eval(`${timeline} [role=option]`, (all) => all.length);
    assert(rows < 100, `${rows} rows are in the document`);
    equal((await tab.judge()).join("\n"), "", "axe");
    await tab.shot(stage.shots, "traffic-exchange-many");
  });

  await stage.check("with an exchange of 20,000 frames a key is answered in time", () =>
    keys(stage, tab, ["Home", "ArrowDown", "PageDown", "End", "PageUp", "ArrowUp"], {
      list: timeline,
      filled: ".what",
      before: async () => {
        await tab.go("#/c1");
        await tab.go(`#/c1/traffic?exchange=${exchange}`);
        await tab.page.waitForSelector(`${timeline} [role=option] .what`);
        await tab.page.focus(timeline);
        await tab.press("End");
        await until(() => tab.page.$eval(timeline, (list) => document.getElementById(list.getAttribute("aria-activedescendant"))?.getAttribute("aria-posinset") === document.querySelector("[role=option]").getAttribute("aria-setsize")), "the last frame");
      },
    }), 240_000);

  await stage.check("a frame of the exchange is picked with the keyboard", async () => {
    await tab.page.focus(timeline);
    await tab.press("Home");
    await tab.press("Enter");
    await tab.sees("tools/call", ".pane.detail h2");
  });
}
