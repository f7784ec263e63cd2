// Connecting anew, and streams that are resumed: what was sent again, and what the server replays.

import { assert, brief, equal, until } from "./lib.mjs";

const frames = "[role=listbox][aria-label='Frames']";
const call = (tab, params) => tab.api("post", "/connections/c1/calls", { method: "tools/call", params });

/** finished makes a call and waits for its end. */
async function finished(tab, params) {
  const { id } = await call(tab, params);
  const done = await until(async () => {
    const now = await tab.api("get", `/connections/c1/calls/${id}`);
    return now.ended && now;
  }, "the end of the call");
  equal(done.state, "done", "the call");
  return done;
}

export async function run(stage) {
  for (const revision of ["2025-03-26", "2025-11-25"]) await session(stage, revision);
  await official(stage);
  await without(stage, { revision: "2026-07-28", transport: "HTTP" }, "This revision has no streams that can be resumed");
  await without(stage, { revision: "2025-11-25", transport: "stdio" }, "A command is reached through pipes");
}

async function session(stage, revision) {
  const { inspect } = await stage.reference({ revision, transport: "HTTP" });
  const tab = await stage.open(inspect.address, { as: revision });
  const check = (name, f) => stage.check(`${revision} HTTP · ${name}`, f);
  const rows = () => tab.page.$$eval("dialog tbody tr", (found) => found.map((row) => row.innerText));
  let first;

  await check("before an event has come, there is nothing to resume, and the button says so", async () => {
    first = await tab.connected();
    await tab.go("#/c1/traffic");
    await tab.sees("No event with an ID has come in this session");
    assert(await tab.page.$eval("[aria-describedby=why-not-resumed]", (button) => button.disabled), "the button can be pressed");
  });

  await check("the events after a chosen one are replayed, and marked", async () => {
    await finished(tab, { name: "count_slowly", arguments: { steps: 4, delay_ms: 110 } });
    const { events } = await tab.api("get", "/connections/c1/replay");
    assert(events.length >= 3, `the events are ${brief(events)}`);
    await tab.click("button", "Resume a stream…");
    await tab.choose("dialog select", events.at(-1).event);
    equal((await tab.judge()).join("\n"), "", "axe");
    await tab.click("button", "Resume");
    await tab.sees(`${events.length - 1} messages came again.`, "dialog");
    const shown = await until(async () => {
      const now = await rows();
      return now.length === events.length - 1 && now;
    }, "the messages");
    for (const [i, { event }] of events.slice(0, -1).reverse().entries()) assert(shown[i].includes(event) && shown[i].includes("replayed"), `message ${i} is ${shown[i]}`);
    equal((await tab.judge()).join("\n"), "", "axe");
    await tab.shot(stage.shots, `resume-${revision}`);
    await tab.press("Escape");
    return `${shown.length} messages`;
  });

  await check("nothing comes after the last event, which is the one by default", async () => {
    const { events } = await tab.api("get", "/connections/c1/replay");
    await tab.click("button", "Resume a stream…");
    await tab.page.waitForSelector("dialog select");
    equal(await tab.page.$eval("dialog select", (select) => select.value), events[0].event, "the event");
    await tab.click("button", "Resume");
    await tab.sees("The server replayed nothing: nothing came after this event.", "dialog");
    await tab.press("Escape");
  });

  await check("a server that refuses is quoted, with its status", async () => {
    const instead = (request) => request.continue(request.url().endsWith("/replay") && request.method() === "POST" ? { postData: '{"event":"nowhere_1"}' } : {});
    await tab.page.setRequestInterception(true);
    tab.page.on("request", instead);
    await tab.click("button", "Resume a stream…");
    await tab.page.waitForSelector("dialog select");
    await tab.click("button", "Resume");
    const text = await tab.sees("The server refused with HTTP 400: it replays nothing.", "dialog");
    assert(text.includes("no longer kept"), `it is not quoted: ${brief(text, 1500)}`);
    equal((await tab.judge()).join("\n"), "", "axe");
    tab.page.off("request", instead);
    await tab.page.setRequestInterception(false);
    await tab.press("Escape");
    await tab.page.waitForFunction(() => !document.querySelector("dialog"), { polling: 50 });
  });

  await check("a frame leads to what came after its event", async () => {
    const { events } = await tab.api("get", "/connections/c1/replay");
    await tab.go(`#/c1/traffic?n=${events[1].n}`);
    await tab.click("button", "Resume after this event…");
    await tab.page.waitForSelector("dialog select");
    equal(await tab.page.$eval("dialog select", (select) => select.value), events[1].event, "the event");
    await tab.click("button", "Resume");
    await tab.sees("One message came again.", "dialog");
    await tab.press("Escape");
    await tab.page.waitForFunction(() => !document.querySelector("dialog"), { polling: 50 });
  });

  await check("the list marks what was replayed, and the client goes on", async () => {
    await tab.go("#/c1/traffic");
    await tab.sees("replayed", frames);
    const { frames: progress } = await tab.api("get", "/connections/c1/frames", { method: "notifications/progress", limit: 200 });
    assert(progress.some(({ aside, replayed }) => aside && replayed) && progress.every(({ aside, replayed }) => !!aside === !!replayed), `the frames are ${brief(progress)}`);
    await finished(tab, { name: "calculate", arguments: { expression: "1+1" } });
  });

  await check("a stream that is under way is taken over, and the client gets all of it", async () => {
    const steps = 25;
    const { state } = await tab.api("get", "/connections/c1/frames", { limit: 1 });
    const { id } = await call(tab, { name: "count_slowly", arguments: { steps, delay_ms: 150 } });
    const own = async () => {
      const { frames: all } = await tab.api("get", "/connections/c1/frames", { after: state.last, kind: "notification", method: "notifications/progress", limit: 500 });
      return all.filter(({ aside }) => !aside);
    };
    const begun = await until(async () => {
      const seen = await own();
      return seen.length >= 3 && seen;
    }, "progress");
    await tab.api("post", "/connections/c1/replay", { event: begun[0].event });
    const done = await until(async () => {
      const now = await tab.api("get", `/connections/c1/calls/${id}`);
      return now.ended && now;
    }, "the result");
    equal(done.state, "done", "the call");
    const seen = await own();
    equal(seen.length, steps, "messages about progress that the client got");
    equal(new Set(seen.map(({ event }) => event)).size, steps, "different ones");
    const { streams } = await tab.api("get", "/connections/c1/resume", { after: state.last });
    assert(streams.find(({ aside }) => aside).again > 0, "the page was replayed nothing");
    assert(streams.some(({ aside, lastEvent }) => !aside && lastEvent), "the client did not resume its stream");
  });

  await check("reconnecting shows the new session, the one that is gone, and what was sent again", async () => {
    await tab.click("button", "Reconnect");
    await tab.sees("Sent again", ".pane.detail");
    const text = await tab.sees("notifications/initialized", ".pane.detail");
    const second = await tab.connected();
    assert(second.session && second.session !== first.session, `the session is ${second.session}, and was ${first.session}`);
    for (const part of ["Connected anew", second.session, first.session, "DELETE", "HTTP 204", "initialize"]) assert(text.includes(part), `no ${part} in ${brief(text, 1500)}`);
    assert(!text.includes("tools/call"), `a call was sent again: ${brief(text, 1500)}`);
    await until(() => tab.page.evaluate(() => [...document.querySelectorAll(".frame-row")].every((row) => row.querySelector(".what"))), "what is in each row in sight");
    equal((await tab.judge()).join("\n"), "", "axe");
    await tab.shot(stage.shots, `reconnect-${revision}`);
  });

  await check("a line among the frames says where it was, and is picked with the keyboard", async () => {
    await tab.go("#/c1/traffic");
    const text = await tab.sees("Connected anew", frames);
    assert(text.includes("is gone"), `no word of the old session in ${brief(text, 1500)}`);
    await tab.page.evaluate((list) => [...document.querySelectorAll(`${list} [role=option]`)].find((row) => row.innerText.includes("Connected anew")).click(), frames);
    await tab.sees("Sent again", ".pane.detail");
    await tab.page.focus(frames);
    await tab.press("ArrowDown");
    await tab.press("Enter");
    await tab.sees("Frame ", ".pane.detail h2");
    await tab.press("ArrowUp");
    await tab.press("Enter");
    await tab.sees("Connected anew", ".pane.detail h2");
  });

  await check("an event of the session that is gone is not offered", async () => {
    const { frames: [old] } = await tab.api("get", "/connections/c1/frames", { method: "notifications/progress", direction: "received", limit: 1 });
    await tab.go(`#/c1/traffic?n=${old.n}`);
    await tab.sees(old.event, ".pane.detail");
    assert(!(await tab.text(".pane.detail")).includes("Resume after this event"), "it is");
  });
}

/**
 * official has the official server replay. Its store keeps streams less apart than it should, so that events of others
 * come, too, and it leaves the stream open afterwards, which the page does not.
 */
async function official(stage) {
  await stage.check("server-everything, HTTP: the events after the first are replayed", async () => {
    const { inspect } = await stage.everything({ transport: "HTTP" });
    const tab = await stage.open(inspect.address, { as: "server-everything, HTTP" });
    await tab.connected();
    await finished(tab, { name: "trigger-long-running-operation", arguments: { duration: 1, steps: 4 } });
    const { events } = await tab.api("get", "/connections/c1/replay");
    const of = events.filter(({ exchange }) => exchange === events.find(({ kind, method }) => kind === "result" && method === "tools/call").exchange);
    const { after, status } = await tab.api("post", "/connections/c1/replay", { event: of.at(-1).event });
    equal(status, 200, "the status");
    const stream = await until(async () => {
      const { streams } = await tab.api("get", "/connections/c1/resume", { after });
      return streams.find(({ aside, open }) => aside && !open);
    }, "the end of the replay");
    const { frames: came } = await tab.api("get", "/connections/c1/frames", { n: stream.replayed.join(",") });
    const again = came.filter(({ replayed }) => replayed).map(({ event }) => event);
    for (const { event } of of.slice(0, -1)) assert(again.includes(event), `event ${event} is not among ${brief(came, 2000)}`);
    return `${stream.total} messages, of which ${stream.again} came again`;
  });
}

/** without is where nothing can be resumed. */
async function without(stage, way, why) {
  const { inspect } = await stage.reference(way);
  const tab = await stage.open(inspect.address, { as: `${way.revision} ${way.transport}` });
  await stage.check(`${way.revision} ${way.transport} · nothing can be resumed, and the page says why`, async () => {
    await tab.connected();
    await finished(tab, { name: "count_slowly", arguments: { steps: 3, delay_ms: 110 } });
    await tab.go("#/c1/traffic");
    await tab.sees(why);
    assert(await tab.page.$eval("[aria-describedby=why-not-resumed]", (button) => button.disabled), "the button can be pressed");
    equal((await tab.judge()).join("\n"), "", "axe");
    await tab.click("button", "Reconnect");
    await tab.sees("had no session, and is closed", ".pane.detail");
    await tab.shot(stage.shots, `reconnect-${way.revision}-${way.transport}`);
  });
}
