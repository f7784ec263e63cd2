// What servers ask, answered by a person and by rules.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { assert, equal, transports, until, ways } from "./lib.mjs";

export async function run(stage) {
  stage.expect(/status of 422/); // what is refused on purpose
  for (const way of ways) await reference(stage, way);
  for (const transport of transports) await others(stage, transport);
}

const call = (tab, name, args = {}) => tab.api("post", "/connections/c1/calls", { method: "tools/call", params: { name, arguments: args } });

/** ended waits for the end of a call, and returns it. */
const ended = (tab, { id }) =>
  until(async () => {
    const made = await tab.api("get", `/connections/c1/calls/${id}`);
    return made.ended && made;
  }, `end of call ${id}`);

/** asked waits until the page shows the question that waits, and returns its selector. */
async function asked(tab) {
  const { questions } = await until(async () => {
    const all = await tab.api("get", "/connections/c1/questions");
    return all.questions[0]?.state === "waiting" && all;
  }, "a question");
  const card = `section.question[aria-label$="question ${questions[0].id}"]`;
  await tab.page.waitForSelector(card);
  return card;
}

/** press presses a button of a question. */
const press = (tab, card, name) => tab.page.locator(`${card} ::-p-aria([name="${name}"][role="button"])`).click();

async function reference(stage, way) {
  const { inspect } = await stage.reference(way);
  const tab = await stage.open(inspect.address, { as: way.name });
  const check = (name, f) => stage.check(`${way.name} · ${name}`, f);
  const shot = (name) => tab.shot(stage.shots, `${name}-${way.name.replace(" ", "-")}`);
  const asks = way.revision !== "2024-11-05"; // which has sampling, and no forms

  await check("a model's answer is asked for wherever the user is, and typed", async () => {
    await tab.connected();
    await tab.go("#/c1/log");
    const made = await call(tab, "classify_log", { entry: "disk full" });
    await tab.sees("asks a question", "aside.asking");
    await shot("asking");
    await tab.page.click("aside.asking a");
    await tab.sees("You are a log classifier");
    await tab.sees("left", ".question");
    await shot("sampling");
    await tab.fill("What the model says", "ERROR");
    await tab.page.reload();
    await tab.settled();
    equal(await tab.page.$eval(".question textarea", (area) => area.value), "ERROR", "what was typed, after a reload");
    await tab.click("button", "Send");
    await tab.sees("Nothing waits for an answer");
    const { result } = await ended(tab, made);
    equal(result.structuredContent?.severity ?? JSON.parse(result.content[0].text).severity, "ERROR", "what the tool made of it");
    await tab.sees("accepted");
  });

  await check("raw JSON that is no result is refused, and loses nothing", async () => {
    const made = await call(tab, "classify_log", { entry: "hello" });
    const card = await asked(tab);
    await press(tab, card, "Edit as JSON");
    await tab.fill("Result as JSON", '{"role":"assistant"}');
    await press(tab, card, "Send");
    await tab.sees("model", ".question .notice.error");
    await tab.fill("Result as JSON", '{"role":"assistant","content":{"type":"text","text":"INFO"},"model":"mine"}');
    await press(tab, card, "Send");
    const { result } = await ended(tab, made);
    assert(JSON.stringify(result).includes("mine"), "the model is not told");
    await tab.settled();
  });

  await check("a question that is declined is an error for the server, and one whose call is cancelled goes", async () => {
    const made = await call(tab, "classify_log", { entry: "hello" });
    await press(tab, await asked(tab), "Decline");
    const { result } = await ended(tab, made);
    assert(result === undefined || result.isError, "the tool succeeded");
    const other = await call(tab, "classify_log", { entry: "hello" });
    await asked(tab);
    await tab.api("del", `/connections/c1/calls/${other.id}`);
    await tab.sees("withdrawn");
  });

  if (asks) {
    await check("a form is made of the schema, and fields that are wrong are named", async () => {
      const made = await call(tab, "checkout");
      const card = await asked(tab);
      await tab.sees("Where should the order", card);
      await shot("form");
      await press(tab, card, "Accept");
      await tab.page.waitForSelector(`${card} [aria-invalid=true]`);
      await shot("form-wrong");
      await tab.page.type(`${card} input[id*="name"]`, "Ada");
      await tab.page.type(`${card} input[id*="email"]`, "ada@example.com");
      await press(tab, card, "Accept");
      await tab.page.waitForSelector(card, { hidden: true });
      await press(tab, await asked(tab), "Decline");
      await ended(tab, made);
    });
  }

  await check("a rule answers by itself, and is seen to have", async () => {
    await tab.go("#/c1/questions");
    await tab.click("tab", "Rules");
    await tab.click("button", "Add a rule");
    await tab.fill("Name required", "always info");
    await tab.choose("dialog select", "sampling");
    await tab.fill("Of the tool", "classify_log");
    await tab.fill("Result", '{"role":"assistant","content":{"type":"text","text":"INFO"},"model":"rule"}');
    await shot("rule");
    await tab.click("button", "Save");
    await tab.sees("always info", "ol.rules");
    const waits = await call(tab, "classify_log", { entry: "x" });
    await tab.sees("Questions 1", "[role=tablist]");
    await tab.api("del", `/connections/c1/calls/${waits.id}`);
    await tab.click("checkbox", "Answer questions by these rules");
    await until(async () => (await tab.api("get", "/connections/c1/rules")).on, "the rules are on");
    await shot("rules");
    const made = await call(tab, "classify_log", { entry: "x" });
    const { result } = await ended(tab, made);
    assert(JSON.stringify(result).includes("rule"), "the rule did not answer");
    await tab.click("tab", "Questions");
    await tab.sees("by the rule always info");
    await shot("answered");
  });

  await check("imported rules are added or take the place of others, which can be taken back", async () => {
    await tab.click("tab", "Rules");
    const names = async () => (await tab.api("get", "/connections/c1/rules")).rules.map((rule) => rule.name).join();
    await imports(tab, { mcpServers: {} });
    await tab.sees("has no rules");
    equal(await names(), "always info", "rules after an import of something else");
    const given = { on: true, rules: [{ name: "never", kind: "sampling", action: "decline" }] };
    await imports(tab, given);
    await tab.sees("The file has 1 rule, and you have 1.", "dialog");
    await shot("rules-import");
    await tab.click("button", "Replace");
    await until(async () => (await names()) === "never", "the rules are replaced");
    await tab.click("button", "Take it back");
    await until(async () => (await names()) === "always info", "the rules from before");
    await imports(tab, given);
    await tab.click("button", "Add");
    await until(async () => (await names()) === "always info,never", "the rules are added");
    equal((await tab.api("get", "/connections/c1/rules")).on, false, "whether they answer at once");
  });
}

/** imports has the page read a file of rules. */
async function imports(tab, content) {
  const folder = mkdtempSync(join(tmpdir(), "parley-rules-"));
  const file = join(folder, "rules.json");
  writeFileSync(file, JSON.stringify(content));
  try {
    await (await tab.page.waitForSelector("input[type=file]")).uploadFile(file);
    await tab.page.waitForFunction(() => document.querySelector("dialog[open]") || document.querySelector("main .notice.error"), { polling: 50 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function others(stage, transport) {
  await stage.check(`server-everything, ${transport} · forms of all kinds of fields, pages to visit, sampling`, async () => {
    const { inspect } = await stage.everything({ transport });
    const tab = await stage.open(inspect.address, { as: `server-everything, ${transport}` });
    await tab.connected();
    await tab.go("#/c1/questions");
    const form = await call(tab, "trigger-elicitation-request");
    const card = await asked(tab);
    await tab.page.waitForSelector(`${card} .schema-form`);
    await tab.shot(stage.shots, `form-everything-${transport}`);
    await press(tab, card, "Decline");
    await ended(tab, form);
    const visit = await call(tab, "trigger-url-elicitation", { url: "https://example.com/some/where?x=1" });
    const page = await asked(tab);
    await tab.sees("https://example.com/some/where?x=1", page);
    await tab.sees("example.com", `${page} .host`);
    await tab.shot(stage.shots, `visit-everything-${transport}`);
    await press(tab, page, "I open it myself");
    await tab.page.waitForSelector(page, { hidden: true });
    await tab.api("del", `/connections/c1/calls/${visit.id}`);
    const sampling = await call(tab, "trigger-sampling-request", { prompt: "Say hello", maxTokens: 10 });
    const model = await asked(tab);
    await tab.fill("What the model says", "hello there");
    await press(tab, model, "Send");
    const { result } = await ended(tab, sampling);
    assert(JSON.stringify(result).includes("hello there"), "the answer did not arrive");
  });
}
