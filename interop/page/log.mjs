// The log, its level, pings and roots.

import { assert, equal, transports, until, ways } from "./lib.mjs";

export async function run(stage) {
  stage.expect(/status of 422/); // what is refused on purpose
  for (const way of ways) await reference(stage, way);
  for (const transport of transports) await others(stage, transport);
}

const call = (tab, name, args = {}) => tab.api("post", "/connections/c1/calls", { method: "tools/call", params: { name, arguments: args } });

async function reference(stage, way) {
  const { inspect } = await stage.reference(way);
  const tab = await stage.open(inspect.address, { as: way.name });
  const check = (name, f) => stage.check(`${way.name} · ${name}`, f);
  const shot = (name) => tab.shot(stage.shots, `${name}-${way.name.replace(" ", "-")}`);

  await check("the server is asked for a level, and what it logs is seen", async () => {
    await tab.connected();
    await tab.go("#/c1/log");
    await tab.choose(".log-tools select", "debug");
    await until(async () => (await tab.api("get", "/connections/c1/loglevel")).level === "debug", "the level");
    const sent = async () => (await tab.api("get", "/connections/c1/frames", { q: '"debug"', direction: "sent" })).frames;
    if (way.revision === "2024-11-05") await until(async () => (await sent()).some(({ method }) => method === "logging/setLevel"), "the level at the server");
    equal((await tab.text()).includes("deprecates logging"), way.revision === "2026-07-28", "whether it is deprecated");
    await call(tab, "import_csv", { csv: "a,b\n1,2\n", table: `t${Date.now()}` });
    await tab.page.waitForSelector(".virtual-row");
    await tab.page.focus("[role=listbox]");
    await tab.press("Enter");
    await tab.sees("import_csv", "section.detail");
    if (way.revision === "2026-07-28") assert((await sent()).some(({ method }) => method === "tools/call"), "the call does not say which level it wants");
    await shot("log");
  });

  await check("messages are filtered by level and by text, and cleared", async () => {
    await tab.choose(".log-head select", "emergency");
    await tab.sees("No message matches");
    await tab.choose(".log-head select", "");
    await tab.fill("Search the log", "nothing like it", "searchbox");
    await tab.sees("No message matches");
    await tab.press("Escape");
    await tab.page.waitForSelector(".virtual-row");
    await tab.click("button", "Clear");
    await tab.sees("The server has logged nothing");
  });

  await check("a ping is timed", async () => {
    await tab.click("button", "Ping");
    await tab.sees("The server answered in");
  });

  await check("roots are added, checked, declared and removed", async () => {
    await tab.go("#/c1/roots");
    await tab.sees("There are no roots");
    await tab.fill("Folder", "https://example.com/");
    await tab.click("button", "Add");
    await tab.sees("is not a file:// URI");
    for (const folder of ["relative/path", "~/notes"]) {
      await tab.fill("Folder", folder);
      await tab.click("button", "Add");
      await tab.sees("Write the whole path", ".add-root");
    }
    await tab.fill("Folder", "/srv/some work");
    await tab.fill("Its name", "Work");
    await tab.click("button", "Add");
    await tab.sees("file:///srv/some%20work", "ul.roots");
    await tab.fill("Folder", "/srv/some work/");
    await tab.click("button", "Add");
    await tab.sees("It is among the roots already.");
    await tab.click("button", "Reconnect now");
    await until(async () => (await tab.api("get", "/connections/c1/roots")).declared, "the roots are declared");
    await tab.connected();
    await shot("roots");
    await until(async () => (await tab.text()).includes("deprecates roots") === (way.revision === "2026-07-28"), "whether they are deprecated");
    await tab.click("button", "Remove file:///srv/some%20work");
    await tab.sees("There are no roots");
  });
}

async function others(stage, transport) {
  await stage.check(`server-everything, ${transport} · log messages come live, and it sees the roots`, async () => {
    const { inspect } = await stage.everything({ transport });
    const tab = await stage.open(inspect.address, { as: `server-everything, ${transport}` });
    await tab.connected();
    await tab.go("#/c1/roots");
    await tab.fill("Folder", "/srv/work");
    await tab.click("button", "Add");
    await tab.click("button", "Reconnect now");
    await until(async () => (await tab.api("get", "/connections/c1/roots")).declared, "the roots are declared");
    await tab.connected();
    const { id } = await call(tab, "get-roots-list");
    const made = await until(async () => {
      const now = await tab.api("get", `/connections/c1/calls/${id}`);
      return now.ended && now;
    }, "the roots");
    assert(JSON.stringify(made.result).includes("file:///srv/work"), `the server sees ${JSON.stringify(made.result)}`);
    // Edited while the server watches: it is told, and asks again by itself.
    await tab.fill("Folder", "/srv/other");
    await tab.click("button", "Add");
    await tab.sees("file:///srv/other", "ul.roots");
    assert(!(await tab.text()).includes("Reconnect now"), "the page wants to connect again");
    await until(async () => {
      const { frames } = await tab.api("get", "/connections/c1/frames", { q: "file:///srv/other", kind: "result", direction: "sent" });
      return frames.length > 0;
    }, "the new root at the server");
    const again = await call(tab, "get-roots-list");
    const now = await until(async () => {
      const seen = await tab.api("get", `/connections/c1/calls/${again.id}`);
      return seen.ended && seen;
    }, "the roots of now");
    assert(JSON.stringify(now.result).includes("file:///srv/other"), `the server sees ${JSON.stringify(now.result)}`);
    await tab.shot(stage.shots, `roots-everything-${transport}`);
    await tab.go("#/c1/log");
    await tab.choose(".log-tools select", "debug");
    await call(tab, "toggle-simulated-logging");
    await tab.page.waitForSelector(".virtual-row");
    await tab.shot(stage.shots, `log-everything-${transport}`);
  });
}
