// Checks and comparisons: a server is judged from the page and its report is read there, and two
// connections are laid side by side.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { assert, brief, equal, everythingHTTP, parley, transports, until, ways } from "./lib.mjs";

export async function run(stage) {
  for (const way of [ways[0], ways[3]]) await judged(stage, way);
  for (const transport of transports) await official(stage, transport);
  await compared(stage);
  await others(stage);
  await skilled(stage);
}

async function judged(stage, way) {
  const { inspect } = await stage.reference(way);
  const tab = await stage.open(inspect.address, { as: way.name });
  const at = (text) => `${way.name}: ${text}`;

  await stage.check(at("what a judgement would send is said before it starts"), async () => {
    await tab.connected();
    await tab.go("#/c1/checks");
    await tab.sees("tools are called that say they only read");
  });

  await stage.check(at("the protocol is judged, and rows are read with what was seen"), async () => {
    await tab.choose("form[aria-label='Judge this server'] .field:nth-of-type(2) select", way.revision);
    await tab.click("button", "Judge");
    await until(async () => /MUST/.test(await tab.text()) || /failed/.test(await tab.text()), "a report", 100_000);
    await tab.sees(way.revision);
    await tab.fill("Search the rows", "basic", "searchbox");
    await tab.choose("select[aria-label='Outcome']", "pass");
    await tab.page.focus("[role=listbox][aria-label='Rows of the specification']");
    await tab.press("Home");
    await tab.press("Enter");
    await tab.sees("Stands in");
    await tab.shot(stage.shots, "checks-report");
  });

  await stage.check(at("definitions are judged"), async () => {
    await tab.click("button", "Judge this server…");
    await tab.choose("form[aria-label='Judge this server'] select", "definitions");
    await tab.click("button", "Judge");
    await tab.sees("the tools cost about");
    await tab.shot(stage.shots, "checks-definitions");
    const runs = await tab.page.$$eval("main option", (all) => all.map((option) => option.innerText).filter((text) => /\d:\d\d/.test(text)));
    assert(runs.length > 1 && runs.every((text) => /, \d\d:\d\d:\d\d\.\d{3}$/.test(text)), `the times of reports are written as nowhere else: ${runs}`);
  });

  await stage.check(at("a report is exported"), async () => {
    const { judgements } = await tab.api("get", "/judgements");
    assert(judgements.length === 2 && judgements.every(({ state }) => state === "done"), `judgements are ${JSON.stringify(judgements)}`);
    const report = await tab.api("get", `/judgements/${judgements[1].id}/report/json`);
    assert(report.format === "parley-check/1" && report.runs.length === 1, "the report is another one");
    await tab.click("button", "Export the report");
    await tab.named("menuitem", "sarif");
    await tab.press("Escape");
  });

  await stage.check(at("a judgement is cancelled"), async () => {
    await tab.click("button", "Judge this server…");
    await tab.click("button", "Judge");
    await tab.click("button", "Cancel");
    await until(async () => !/running/.test(await tab.text(".checks .row")), "the end of the judgement");
  }, 60_000);
}

async function compared(stage) {
  const inspect = await stage.inspect(["--revision", "2024-11-05", "--", parley, "serve", "--stdio"]);
  const tab = await stage.open(inspect.address, { as: "compare" });

  await stage.check("a second connection is opened in another revision", async () => {
    await tab.connected();
    await tab.go("#/compare?a=c1");
    await tab.choose(".another select", "2026-07-28");
    await tab.click("button", "Connect");
    await until(async () => (await tab.page.evaluate(() => location.hash)).includes("b=c2"), "the second connection");
    await tab.sees("/revision");
    const text = await tab.sees("2026-07-28");
    assert(!text.includes("/features"), `what only the page knows of is compared: ${text}`);
    await tab.shot(stage.shots, "compare-server");
  });

  await stage.check("lists are compared item by item", async () => {
    await tab.click("tab", "Tools");
    await tab.sees("changed");
    await tab.page.focus("[role=listbox][aria-label='Differences']");
    await tab.press("Home");
    await tab.press("Enter");
    await tab.page.waitForSelector(".places");
    await tab.shot(stage.shots, "compare-tools");
    await tab.click("tab", "Prompts");
    await tab.settled();
  });

  await stage.check("the same call is made to both", async () => {
    await tab.click("tab", "The same call");
    await tab.fill("Params", '{"name":"calculate","arguments":{"expression":"1+1"}}');
    await tab.click("button", "Call both");
    await tab.sees("What differs");
    await tab.shot(stage.shots, "compare-call");
  });
}

/** official judges the official server that has everything. */
async function official(stage, transport) {
  await stage.check(`server-everything, ${transport}: its definitions are judged`, async () => {
    const { inspect } = await stage.everything({ transport });
    const tab = await stage.open(inspect.address, { as: `server-everything, ${transport}` });
    await tab.connected();
    await tab.go("#/c1/checks");
    await tab.choose("form[aria-label='Judge this server'] select", "definitions");
    await tab.click("button", "Judge");
    await tab.sees("the tools cost about");
    const { judgements } = await tab.api("get", "/judgements");
    const report = await tab.api("get", `/judgements/${judgements[0].id}/report/json`);
    assert(report.servers[0].tools > 10 && JSON.stringify(report).includes("trigger-url-elicitation"), `the report is about ${brief(report, 500)}`);
    await tab.shot(stage.shots, `checks-everything-${transport}`);
  });
}

/** skilled compares the skills of two servers: one of both, of which a file differs, and one of each. */
async function skilled(stage) {
  const folder = (name, skills) => {
    const dir = mkdtempSync(join(tmpdir(), `parley-skills-${name}-`));
    stage.after(() => rmSync(dir, { recursive: true, force: true }));
    for (const [skill, text] of Object.entries(skills)) {
      mkdirSync(join(dir, skill));
      writeFileSync(join(dir, skill, "SKILL.md"), `---\nname: ${skill}\ndescription: Does ${skill}.\n---\n${text}\n`);
    }
    return dir;
  };
  await stage.check("the skills of two servers are compared", async () => {
    const left = folder("left", { both: "One text.", mine: "Mine." });
    const right = folder("right", { both: "Another text.", yours: "Yours." });
    const inspect = await stage.inspect(["--", parley, "serve", "--stdio", "--skills", left]);
    const tab = await stage.open(inspect.address, { as: "skills" });
    await tab.connected();
    const { id } = await tab.api("post", "/connections", { args: [parley, "serve", "--stdio", "--skills", right] });
    await tab.connected(id);
    await tab.go(`#/compare?a=c1&b=${id}&tab=skills`);
    const at = "[role=listbox][aria-label='Differences']";
    const text = await tab.sees("skill://yours/SKILL.md", at);
    for (const [state, uri] of [["changed", "both"], ["only left", "mine"], ["only right", "yours"]]) {
      assert(new RegExp(`${state}\\s+skill://${uri}/SKILL.md`).test(text), `${uri} is not "${state}" in ${brief(text, 1500)}`);
    }
    assert(!text.includes("sample-shop"), "what is the same is listed");
    await tab.pick("option", "changed");
    const places = await tab.sees("sha256:", ".places");
    assert(places.includes("digest"), `what differs is ${brief(places, 1500)}`);
    equal((await tab.judge()).join("\n"), "", "axe");
    await tab.shot(stage.shots, "compare-skills");
  });
}

/** others compares two servers that have nothing to do with each other. */
async function others(stage) {
  await stage.check("two different servers are compared", async () => {
    const served = await everythingHTTP();
    stage.after(() => served.end());
    const inspect = await stage.inspect(["--", parley, "serve", "--stdio"]);
    const tab = await stage.open(inspect.address, { as: "two servers" });
    await tab.connected();
    const { id } = await tab.api("post", "/connections", { url: served.url });
    await tab.connected(id);
    await tab.go(`#/compare?a=c1&b=${id}`);
    const text = await tab.sees("mcp-servers/everything", "main");
    assert(text.includes("/server/name") && text.includes("/revision"), `what differs is ${brief(text, 1500)}`);
    await tab.shot(stage.shots, "compare-servers");
    for (const [kind, left, right] of [["Tools", "calculate", "get-tiny-image"], ["Resources", "Server Information", "architecture.md"], ["Prompts", "", "completable-prompt"]]) {
      await tab.click("tab", kind);
      const list = await tab.sees(right, "[role=listbox][aria-label='Differences']");
      assert(list.includes(left), `${kind}: no ${left} in ${brief(list, 1500)}`);
    }
    await tab.click("tab", "Skills");
    const skills = await tab.sees("skill://sample-shop/SKILL.md", "[role=listbox][aria-label='Differences']");
    assert(skills.includes("only left"), `the skills are ${brief(skills, 1500)}`);
    await tab.click("tab", "The same call");
    await tab.fill("Params", '{"name":"echo","arguments":{"message":"hello"}}');
    await tab.click("button", "Call both");
    await tab.sees("What differs");
    await tab.sees("Echo: hello");
    await tab.shot(stage.shots, "compare-servers-call");
  });
}
