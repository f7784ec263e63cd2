// A server whose every text is hostile: all views are visited, everything in them is opened,
// and nothing of it runs or leaves. See servers/payloads.mjs. The same server is behind a
// gateway whose console is looked at.

import { join } from "node:path";

import { assert, brief, equal, here, limit, start, until } from "./lib.mjs";
import { Guard, drawn, everyRow, listen, openAll } from "./lib/guard.mjs";
import { apps } from "./lib/hostile-apps.mjs";
import { behindGateway } from "./lib/hostile-console.mjs";

const program = join(here, "servers/hostile.mjs");

export async function run(stage) {
  const canary = await listen();
  stage.after(() => canary.close());
  await overLines(stage, canary);
  await overHTTP(stage, canary);
  await behindGateway(stage, program, canary);
  await stage.check("nothing was ever asked of where texts point to", () => equal(brief(canary.asked), "[]", "requests"));
}

/** open starts parley inspect with a target, and returns a tab that is guarded. */
async function open(stage, way, target) {
  const inspect = await stage.inspect(["--revision", "2025-11-25", ...target]);
  const tab = await stage.open(inspect.address, { as: `hostile, ${way}` });
  const guard = new Guard();
  await guard.watch(tab, inspect.origin);
  const check = (name, f) =>
    stage.check(`${way} · ${name}`, async () => {
      const said = await f();
      await guard.quiet(name);
      return said;
    });
  await check("it connects", () => tab.connected());
  return { stage, way, inspect, tab, guard, check };
}

/** views visits every view that there is, of the connection and of none. */
async function views({ stage, way, tab, guard }) {
  const ids = await tab.page.evaluate(async () => {
    const { views, pages } = await import("/page.js");
    return [...pages.map(({ id }) => id), ...views.map(({ id }) => `c1/${id}`)];
  });
  for (const id of ids) {
    await tab.go(`#/${id}${id === "compare" ? "?a=c1&b=c1" : ""}`);
    await openAll(tab);
    assert(!(await tab.text()).includes("There is no such view"), `there is no view ${id}`);
    await tab.shot(stage.shots, `hostile-${way}-${id.replace("c1/", "")}`);
    await guard.quiet(id);
  }
  return `${ids.length} views`;
}

async function overLines(stage, canary) {
  const it = await open(stage, "stdio", ["--", process.execPath, program, canary.origin]);
  const { tab, guard, check } = it;
  await stage.check("the guard sees what it is there for", () => guard.notices());
  stage.expect(/code of 404|409 \(Conflict\)|502 \(Bad Gateway\)/); // what the server refuses or does not have
  await check("every view", () => views(it));
  for (const [view, options] of [["tools", {}], ["resources", { step: 2 }], ["prompts", { step: 2 }]]) {
    await check(`rows of ${view}`, async () => {
      await tab.go(`#/c1/${view}`);
      if (view === "resources") await tab.pick("tab", "Resources");
      return `${await everyRow(tab, guard, view, options)} rows`;
    });
  }
  await check("rows of templates, and what is proposed for their variables", async () => {
    await tab.go("#/c1/resources");
    await tab.pick("tab", "Templates");
    const rows = await everyRow(tab, guard, "templates", { step: 3 });
    await (await tab.page.waitForSelector("main form [role=combobox]")).type("x");
    await tab.page.waitForSelector("main form [role=listbox] [role=option]");
    return `${rows} rows`;
  });
  await check("results", () => results(it, ["data-data:text", "script-no", "fail"]));
  await check("a form is filled in, called, and its errors are texts", async () => {
    await tab.go("#/c1/tools/fail");
    await tab.click("button", "Call");
    await tab.page.waitForSelector(".call-view .call-head");
    await openAll(tab);
  });
  await check("questions are texts, and links of theirs lead nowhere", () => questions(it));
  await check("tasks, and what comes of them", () => tasks(it));
  await check("definitions that are judged", () => judged(it));
  await check("log", async () => {
    await tab.go("#/c1/log");
    return `${await everyRow(tab, guard, "log", { most: 12 })} rows`;
  });
  await check("traffic, and requests that are copied", async () => {
    await tab.go("#/c1/traffic");
    return `${await everyRow(tab, guard, "traffic", { most: 12, step: 3 })} rows`;
  });
  await check("an answer that is no Unicode is refused, and said to be", async () => {
    const id = await call(tab, "halves");
    const { state, error } = await tab.api("get", `/connections/c1/calls/${id}`);
    equal(state, "failed", "its state");
    assert(error.message.includes("invalid surrogate pair"), brief(error));
  });
  await check("content of every kind, in every form that it is shown in", () => everyBlock(it));
  await check("a reload keeps what was seen, and runs nothing", async () => {
    await tab.page.reload();
    await tab.connected();
    await tab.settled();
    await openAll(tab);
  });
  await check("a server that does not let itself be connected to", async () => {
    const { id } = await tab.api("post", "/connections", { args: [process.execPath, program, canary.origin, "refuse"] });
    await until(async () => (await tab.api("get", `/connections/${id}`)).state === "failed", "the failure");
    await tab.go(`#/${id}/overview`);
    const text = await tab.sees("⟨U+202E⟩");
    assert(!text.includes("\u202e"), `a character turns text around: ${brief(text)}`);
    await tab.shot(stage.shots, "hostile-refused");
  });
  await apps(it, canary);
}

async function overHTTP(stage, canary) {
  const served = start(process.execPath, [program, canary.origin, "http"]);
  stage.after(() => served.child.kill());
  const url = `${await served.told(limit)}/mcp`;
  const it = await open(stage, "HTTP", [url]);
  const { tab, check } = it;
  await check("every view", () => views(it));
  await check("results", () => results(it, ["handlers-no", "fail"]));
  await check("traffic with the headers of HTTP", async () => {
    await tab.go("#/c1/traffic");
    return `${await everyRow(tab, it.guard, "traffic", { most: 5, step: 2 })} rows`;
  });
  await check("a login whose metadata is hostile", async () => {
    const made = await tab.api("post", "/connections", { url: url.replace("/mcp", "/login") });
    await until(async () => (await tab.api("get", `/connections/${made.id}`)).state !== "connecting", "the end of connecting");
    await tab.go(`#/${made.id}/overview`);
    await openAll(tab);
    await tab.shot(stage.shots, "hostile-login");
  });
  await stage.check("the server was sent neither the key nor the cookie", async () => {
    const key = await tab.page.evaluate(() => Object.values(localStorage).join());
    const cookies = await tab.context.cookies();
    const secrets = [key, ...cookies.map(({ value }) => value)];
    assert(secrets.length > 1 && secrets.every((text) => text.length > 20), "there are a key and a cookie");
    assert(served.stdout.split("\n").length > 20, "it saw requests");
    for (const secret of [...secrets, "parley=stolen", "Parley-Key"]) assert(!served.stdout.toLowerCase().includes(secret.toLowerCase()), `it was sent ${secret}`);
  });
}

/** call has a connection call a tool, and returns the call's ID when it has ended, unless it is to ask something. */
async function call(tab, name, { wait = true, ...how } = {}) {
  const { id } = await tab.api("post", "/connections/c1/calls", { method: "tools/call", params: { name, arguments: {} }, ...how });
  if (wait) await until(async () => (await tab.api("get", `/connections/c1/calls/${id}`)).state !== "running", `the end of ${name}`);
  return id;
}

// Calls tools, which are found by what their names begin with, and opens what they return.
async function results({ stage, way, tab, guard }, names) {
  const { items } = await tab.api("get", "/connections/c1/lists/tools");
  for (const begin of names) {
    const { name } = items.find((one) => one?.name?.startsWith?.(begin)) ?? items[0];
    const id = await call(tab, name);
    await tab.go(`#/c1/tools/${encodeURIComponent(name)}?call=${id}`);
    await tab.page.waitForSelector(".call-view .call-head");
    await openAll(tab, 2);
    await tab.shot(stage.shots, `hostile-${way}-result-${begin.slice(0, 6)}`);
    await guard.quiet(`the result of ${name}`);
  }
}

async function questions({ stage, tab, guard }) {
  for (const name of ["elicit", "visit", "sample"]) {
    const id = await call(tab, name, { wait: false });
    await until(async () => {
      const { state } = await tab.api("get", `/connections/c1/calls/${id}`);
      return state !== "running" || (await tab.api("get", "/connections/c1")).counts?.questions > 0;
    }, `a question of ${name}`);
    await tab.go("#/c1/questions");
    await openAll(tab);
    await tab.shot(stage.shots, `hostile-question-${name}`);
    await guard.quiet(`the question of ${name}`);
    await tab.api("del", `/connections/c1/calls/${id}`);
    await until(async () => !((await tab.api("get", "/connections/c1")).counts?.questions > 0), "no question");
  }
}

async function tasks({ stage, tab, guard }) {
  await call(tab, "task", { task: true });
  await tab.go("#/c1/tasks");
  await tab.click("button", "Ask the server");
  await until(async () => (await tab.api("get", "/connections/c1/tasks")).tasks.length > 20, "tasks that the server lists");
  const rows = await everyRow(tab, guard, "tasks", { step: 6 });
  await tab.page.focus("main [role=listbox]");
  await tab.press("Home");
  await tab.press("Enter");
  await until(async () => {
    const text = await tab.text(".pane.detail");
    return text.includes("path-../") && text.includes("State as the server sent it");
  }, "the first task");
  await tab.shot(stage.shots, "hostile-task");
  await (await tab.named("button", "Cancel the task")).focus();
  await tab.press("Enter");
  await tab.page.waitForSelector("main .notice.error");
  return `${rows} rows`;
}

async function judged({ stage, tab }) {
  const { id } = await tab.api("post", "/judgements", { connection: "c1", kind: "definitions" });
  await until(async () => (await tab.api("get", "/judgements")).judgements.find((one) => one.id === id).state === "done", "the end of the judgement");
  await tab.go(`#/c1/checks?j=${id}`);
  await openAll(tab, 1);
  await tab.shot(stage.shots, "hostile-judged");
}

// Shows the blocks of a hostile result with lib/content.js, and Markdown of each text.
async function everyBlock({ tab, guard }) {
  const id = await call(tab, "huge");
  const shown = await tab.page.evaluate(async (id) => {
    const { api, html, render, Blocks, Text, SafeLink, Marked } = await import("/page.js");
    const { result } = await api.get(`/connections/c1/calls/${id}`);
    const place = document.createElement("div");
    document.querySelector("main").replaceChildren(place);
    const texts = result.content.map((block) => block?.text).filter((text) => typeof text === "string" && text.length < 1e6);
    render(
      html`<${Blocks} blocks=${result.content} connection="c1" />${texts.map((text) => html`<${Text} text=${text} mimeType="text/markdown" /><${SafeLink} href=${text} /><${SafeLink} href=${text}>${text.slice(0, 50)}<//><${Marked} text=${text} />`)}`,
      place,
    );
    return { blocks: result.content.length, texts: texts.length };
  }, id);
  assert(shown.blocks > 40 && shown.texts > 20, brief(shown));
  for (const way of ["Markdown", "JSON", "Text"]) {
    await tab.page.evaluate((way) => {
      for (const button of document.querySelectorAll("main .ways button")) if (button.textContent === way) button.click();
    }, way);
    await drawn(tab);
    if (way === "JSON") await openAll(tab, 1);
    await guard.quiet(`content as ${way}`);
  }
  const dead = await tab.page.$$eval("main a[href]", (links) => links.map((link) => link.href).filter((href) => !/^https?:/.test(href)));
  equal(brief(dead), "[]", "links that are not http or https");
  await tab.go("#/c1/overview"); // what was put there by hand is gone with a reload
  await tab.page.reload();
  await tab.connected();
  return `${shown.blocks} blocks, ${shown.texts} texts`;
}
