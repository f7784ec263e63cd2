// Tasks: made, followed live to their ends, answered, cancelled, left, found from another connection
// and forgotten, in both revisions that have them.

import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { assert, equal, parley, until } from "./lib.mjs";

const ways = ["2025-11-25", "2026-07-28"].flatMap((revision) => ["stdio", "HTTP"].map((transport) => ({ name: `${revision} ${transport}`, revision, transport })));

export async function run(stage) {
  stage.expect(/404 \(Not Found\).*\/api\/v1\/connections\/c\d+\/tasks\/t\d+$/); // a task that is forgotten while the page reads it
  for (const way of ways) await tasks(stage, way);
}

const detail = ".pane.detail";

/** fill opens the report's form and fills it in. Without a choice, the report asks for it. */
async function fill(tab, way, { pace, choice }) {
  await tab.go("#/c1/tools/annual_report");
  await tab.sees("annual_report", ".tool h1");
  await tab.click("button", "Start over");
  await tab.fill("pace_ms", String(pace));
  if (choice) {
    await (await tab.named("combobox", "format")).select("1"); // the second of the values
    await tab.fill("threshold_cents", "100000");
  }
  if (!(await tab.page.$(".call-options[open]"))) await tab.page.click(".call-options > summary");
  if (way.revision === "2026-07-28") await tab.sees("the server decides whether the call becomes a task", ".call-options");
  else {
    const box = await tab.named("checkbox", "Call as a task");
    if (!(await box.evaluate((e) => e.checked))) await box.click();
  }
}

/** begin calls the report, goes to its task, and returns the call and the key of the task. */
async function begin(tab, way, how) {
  await fill(tab, way, how);
  const before = (await tab.api("get", "/connections/c1/calls")).calls[0]?.id;
  await tab.click("button", "Call");
  const made = await until(async () => {
    const [newest] = (await tab.api("get", "/connections/c1/calls")).calls;
    return newest?.id !== before && newest.taskKey && newest;
  }, "a call that has become a task");
  const head = `section.call-view[aria-label="Call ${made.id}"]`;
  await tab.page.waitForSelector(head);
  await tab.enter("link", "The task");
  await tab.sees("annual_report", `${detail} h2`);
  equal(await tab.page.evaluate(() => location.hash), `#/c1/tasks/${made.taskKey}`, "where the link leads");
  return { call: made.id, key: made.taskKey, id: made.taskNow.taskId };
}

const call = (tab, id) => tab.api("get", `/connections/c1/calls/${id}`);

/** row waits until the list has a task with this state. */
const row = (tab, id, status) =>
  tab.page.waitForFunction((i, s) => [...document.querySelectorAll("[role=listbox][aria-label=Tasks] [role=option]")].some((e) => e.innerText.includes(i) && e.innerText.includes(s)), { polling: 50 }, id, status);

async function tasks(stage, way) {
  const folder = await mkdtemp(join(tmpdir(), "parley-tasks-"));
  stage.after(() => rmSync(folder, { recursive: true, force: true }));
  const store = ["--task-store", join(folder, "tasks")];
  const { inspect, served } = await stage.reference(way, { serve: store });
  const tab = await stage.open(inspect.address, { as: way.name });
  const { page } = tab;
  await tab.connected();
  const check = (name, f) => stage.check(`${way.name} · ${name}`, f);
  const shot = (name) => tab.shot(stage.shots, `tasks-${name}-${way.name.replace(" ", "-")}`);
  let done;

  await check("without tasks the view says so, and what to do", async () => {
    await tab.go("#/c1/tasks");
    await tab.sees("No tasks are known.");
    await tab.click("button", "Ask the server");
    if (way.revision === "2026-07-28") await tab.sees("does not list its tasks");
    await shot("none");
  });

  await check("a call as a task is followed live to its end", async () => {
    done = await begin(tab, way, { pace: 100, choice: true });
    await tab.sees("is done", detail); // what the task says while it works
    await shot("working");
    await tab.sees("completed", detail);
    await row(tab, done.id, "completed");
    const { state, result, check: fits } = await until(async () => {
      const made = await call(tab, done.call);
      return made.ended && made;
    }, "the end of the call");
    equal(state, "done", "the call");
    assert(fits.fits && JSON.stringify(result).includes("Report rep_"), "the call has another result");
    await tab.enter("button", "Get the result");
    await tab.sees("fits its output schema", ".call-view");
    await tab.sees("Report rep_", ".call-view");
    await shot("done");
  });

  await check("its address holds over a reload, with the call that fetched the result", async () => {
    await page.reload();
    await tab.sees("Report rep_", ".call-view");
    assert((await page.evaluate(() => location.hash)).startsWith(`#/c1/tasks/${done.key}?call=`), "the address is another one");
    await row(tab, done.id, "completed");
  });

  await check("a task that asks is answered in the page, by the call that follows it", async () => {
    const asks = await begin(tab, way, { pace: 0 });
    await tab.sees("The task waits for an answer.", detail);
    await tab.sees("input required", "[role=listbox]");
    await until(async () => (await tab.api("get", "/connections/c1/questions")).questions[0]?.state === "waiting", "the question");
    await shot("asks");
    equal((await tab.judge()).join("\n"), "", "while it asks");
    await tab.enter("link", "Answer it among the questions");
    await tab.sees("annual_report", ".question header");
    await tab.click("button", "Accept");
    await tab.sees("Nothing waits for an answer");
    await tab.go(`#/c1/tasks/${asks.key}`);
    await tab.sees("completed", detail);
    await row(tab, asks.id, "completed");
  });

  await check("a task is left running, and asks when somebody wants it", async () => {
    const left = await begin(tab, way, { pace: 200 });
    await tab.enter("button", `Show call ${left.call}`);
    await tab.enter("button", "Leave the task running");
    await tab.sees("task left running", ".call-view");
    await tab.sees("Nobody asks its questions here yet.", detail);
    await tab.enter("button", "Have it ask");
    await tab.sees("Answer it among the questions", detail);
    await tab.go("#/c1/questions");
    await tab.click("button", "Accept");
    await tab.go(`#/c1/tasks/${left.key}`);
    await tab.sees("completed", detail);
    await tab.enter("button", "Get the result");
    await tab.sees("Report rep_", ".call-view");
  });

  await check("a task is cancelled, and so is its call", async () => {
    const slow = await begin(tab, way, { pace: 10_000, choice: true });
    await tab.enter("button", "Cancel the task");
    await row(tab, slow.id, "cancelled");
    await tab.sees("cancelled", detail);
    assert(await (await tab.named("button", "Cancel the task")).evaluate((button) => button.disabled), "it can be cancelled again");
    const made = await until(async () => {
      const now = await call(tab, slow.call);
      return now.ended && now;
    }, "the end of the call");
    assert(made.state === "failed" && made.error.message.includes("cancelled"), `the call is ${made.state}: ${made.error?.message}`);
    await shot("cancelled");
  });

  await check("cancelling a call cancels its task", async () => {
    const slow = await begin(tab, way, { pace: 10_000, choice: true });
    await tab.enter("button", `Show call ${slow.call}`);
    await tab.enter("button", "Cancel");
    await tab.sees("cancelled", ".call-view");
    await row(tab, slow.id, "cancelled");
  });

  await check("another connection finds a task by its ID, and only by that", async () => {
    const target = served ? { url: `${served.origin}/mcp` } : { args: [parley, "serve", "--stdio", ...store] };
    const { id } = await tab.api("post", "/connections", { ...target, revision: way.revision });
    await tab.connected(id);
    await tab.go(`#/${id}/tasks`);
    await tab.sees("No tasks are known.");
    await tab.fill("A task from elsewhere", "nobody's");
    await tab.click("button", "Look it up");
    await page.waitForSelector(`${detail} .notice.error`);
    await shot("unknown");
    await tab.fill("A task from elsewhere", done.id);
    await tab.press("Enter");
    await tab.sees(done.id, `${detail} .task-facts`);
    await tab.sees("completed", detail);
    await tab.enter("button", "Get the result");
    await tab.sees("Report rep_", ".call-view");
    await tab.click("button", "Forget it here");
    await tab.sees("Pick a task", detail);
    await until(async () => !(await tab.text("[role=listbox]")).includes(done.id), "what was forgotten is not listed any more");
    await tab.go("#/c1/tasks");
    await tab.api("del", `/connections/${id}`);
  });

  await check("the keyboard alone picks a task, and gets its result", async () => {
    await tab.go("#/c1");
    await page.waitForSelector("[role=listbox][aria-label=Tasks]", { hidden: true });
    await page.evaluate(() => document.activeElement.blur());
    await tab.press("g");
    await tab.press("k");
    await page.waitForSelector("[role=listbox][aria-label=Tasks] [role=option]");
    for (let i = 0; i < 40 && (await tab.focused())?.role !== "listbox"; i++) await tab.press("Tab");
    await tab.press("End"); // the oldest
    await tab.press("Enter");
    await tab.sees(done.id, `${detail} .task-facts`);
    await tab.sees("completed", detail);
    for (let i = 0; i < 40 && (await tab.focused())?.name !== "Get the result"; i++) await tab.press("Tab");
    await tab.press("Enter");
    await tab.sees("Report rep_", ".call-view");
  });

  await check("the view has no violations of accessibility, and fits into a narrow window", async () => {
    for (const dark of [false, true]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
      equal((await tab.judge()).join("\n"), "", dark ? "dark" : "light");
      await shot(dark ? "dark" : "light");
    }
    await page.setViewport({ width: 360, height: 740 });
    await tab.fits();
    equal((await tab.judge()).join("\n"), "", "narrow");
    await shot("narrow");
    await page.setViewport({ width: 1280, height: 860 });
  });
}
