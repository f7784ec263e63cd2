// Tools: a list of any length, forms for every kind of argument, calls with all that belongs to
// them, results of every kind.

import { join } from "node:path";

import { assert, equal, here, transports, until, ways } from "./lib.mjs";
import { answer, answers } from "./lib/pace.mjs";

const fields = join(here, "servers/tools.mjs");

export async function run(stage) {
  await forms(stage);
  await calls(stage);
  await many(stage);
  for (const way of ways) await reference(stage, way);
  for (const transport of transports) await official(stage, transport);
}

/** open starts parley inspect with a server and opens its page at the tools. */
async function open(stage, ...command) {
  const inspect = await stage.inspect(["--", process.execPath, ...command]);
  const tab = await stage.open(inspect.address);
  await tab.connected();
  return tab;
}

const tool = async (tab, name) => {
  await tab.go(`#/c1/tools/${name}`);
  await tab.page.waitForFunction((want) => document.querySelector(".tool h1")?.innerText === want, { polling: 50 }, name);
};

/** call presses Call, which checks of a field just filled in can move, and returns the call when it has ended. */
async function call(tab) {
  const before = await last(tab);
  await tab.enter("button", "Call");
  return ended(tab, before);
}

const last = async (tab) => Number((await tab.api("get", "/connections/c1/calls")).calls[0]?.id ?? 0);

async function ended(tab, before) {
  const { id } = await until(async () => {
    const [newest] = (await tab.api("get", "/connections/c1/calls")).calls;
    return newest && Number(newest.id) > before && newest.state !== "running" && newest;
  }, "end of the call");
  await tab.page.waitForFunction((want) => document.querySelector(".call-view h2")?.innerText === `Call ${want}` && !document.querySelector(".call-live"), { polling: 50 }, id);
  return tab.api("get", `/connections/c1/calls/${id}`);
}

/** select picks an entry of a choice by its name. */
async function select(tab, name, text) {
  const field = await tab.named("combobox", name);
  const value = await field.evaluate((e, want) => [...e.options].find((option) => option.text === want)?.value, text);
  assert(value !== undefined, `${name} does not offer ${text}`);
  await field.select(value);
}

async function forms(stage) {
  const tab = await open(stage, fields);
  const { page } = tab;

  await stage.check("each kind of field", async () => {
    await tool(tab, "every_field");
    await tab.fill("Text text required", "two\nlines");
    await tab.fill("code", "ABC-12");
    await tab.fill("mail", "ada@example.com");
    await tab.fill("secret", "hush");
    await tab.fill("count", "12345678901234567889");
    await tab.fill("ratio", "0.3");
    await select(tab, "sure", "true");
    await select(tab, "colour", "blue");
    await select(tab, "size", "Large (l)");
    await tab.click("checkbox", "tue");
    await tab.click("button", "Fill in names");
    await tab.click("button", "Add an item to names");
    await tab.fill("Item 1", "first");
    await tab.click("button", "Add an item to names");
    await tab.fill("Item 2", "second");
    await tab.click("button", "Move item 2 of names up");
    await tab.click("button", "Fill in nested");
    await tab.fill("leaf required", "deep");
    await tab.click("button", "Fill in labels");
    await tab.fill("Name of another member", "key");
    await tab.click("button", "Add key");
    await tab.fill("key", "value");
    await tab.click("button", "Make maybe null");
    await select(tab, "Form of shape", "Square");
    await tab.fill("side required", "2.50");
    await select(tab, "Form of either", "integer");
    await tab.fill("integer", "5");
    await tab.click("button", "Fill in tree");
    await tab.fill("name required", "Ada");
    await tab.fill("anything", '{"a": [1.0, null]}');
    await tab.fill("A dangerous name __proto__", "harmless");
    await tab.shot(stage.shots, "tools-fields");
    const { result } = await call(tab);
    const want = { text: "two\nlines", code: "ABC-12", mail: "ada@example.com", secret: "hush", ratio: 0.3, sure: true, colour: "blue", size: "l", days: ["tue"] };
    for (const [name, value] of Object.entries(want)) equal(JSON.stringify(result.structuredContent[name]), JSON.stringify(value), name);
    const sent = result.content[0].text;
    const parts = ['"count":12345678901234567889', '"names":["second","first"]', '"nested":{"inner":{"leaf":"deep"}}', '"labels":{"key":"value"}', '"maybe":null', '"shape":{"kind":"square","side":2.50}', '"either":5', '"tree":{"name":"Ada"}', '"anything":{"a":[1.0,null]}', '"__proto__":"harmless"'];
    for (const part of parts) assert(sent.includes(part), `${part} was not sent: ${sent}`);
    assert(!sent.includes('"point"') && !sent.includes('"elsewhere"'), `what was left out was sent: ${sent}`);
    equal(await page.evaluate(() => ({}).polluted), undefined, "the prototype of objects");
  });

  await stage.check("what cannot be a form is JSON, with its reason", async () => {
    const text = await tab.text();
    assert(text.includes("The schema allows any value here."), "no reason for a schema of anything");
    assert(text.includes("nothing is fetched"), "no reason for a reference to elsewhere");
  });

  await stage.check("a field that is left out can be filled in, and left out again", async () => {
    await tab.click("button", "Leave out secret");
    await tab.click("button", "Leave out names");
    await tab.click("button", "Fill in point");
    await tab.click("button", "Add an item to point");
    await tab.fill("x Item 1", "1");
    await tab.click("button", "Add an item to point");
    await tab.fill("y Item 2", "2");
    const { result } = await call(tab);
    assert(!("secret" in result.structuredContent) && !("names" in result.structuredContent), "what was left out was sent");
    equal(JSON.stringify(result.structuredContent.point), "[1,2]", "point");
    equal(await page.$eval('[aria-label="Add an item to point"]', (button) => button.disabled), true, "a tuple of two takes no third item");
  });

  await stage.check("errors stand at their fields, and keep nobody from calling", async () => {
    await tab.fill("code", "nonsense");
    await tab.fill("ratio", "0.35");
    await tab.sees("must match the pattern", ".tool");
    await tab.sees("must be a multiple of 0.1", ".tool");
    await tab.click("button", "Call");
    await tab.sees("2 fields do not fit.", ".tool");
    await until(async () => (await tab.focused())?.name === "code", "the first wrong field has the focus");
    equal(await page.$$eval('.schema-form [aria-invalid="true"]', (wrong) => wrong.length), 2, "fields that are marked");
    await tab.shot(stage.shots, "tools-errors");
    const before = await last(tab);
    await tab.click("button", "Call anyway");
    const { result } = await ended(tab, before);
    equal(result.structuredContent.code, "nonsense", "what was sent");
  });

  await stage.check("examples, an empty text, _meta, the arguments of an earlier call, and a new start", async () => {
    await tab.click("button", "Start over");
    await tab.click("button", "Give text an empty text");
    await tab.sees("empty text", ".schema-form");
    await tab.click("button", "Examples of text");
    await tab.click("button", '"two"');
    await page.click(".call-options > summary");
    await tab.fill("Time limit in seconds", "20");
    await tab.fill("_meta", '{"com.example/trace": "1"');
    await tab.fill("Time limit in seconds", "abc");
    await page.$eval(".call-options", (options) => (options.open = false)); // where nobody sees what is wrong
    const before = await last(tab);
    await tab.click("button", "Call");
    await tab.sees("It must be a number of seconds", ".call-options");
    await tab.sees("This is not JSON", ".call-options");
    await until(async () => (await tab.focused())?.name === "Time limit in seconds", "the option that is wrong has the focus");
    await tab.fill("Time limit in seconds", "20");
    await tab.fill("_meta", '{"progressToken": "mine"}');
    await tab.click("button", "Call");
    await tab.sees("progressToken is for parley to say", ".call-options");
    equal((await page.$$("::-p-aria(Call anyway)")).length, 0, "ways to call with wrong options");
    equal(await last(tab), before, "calls that were made");
    await tab.shot(stage.shots, "tools-options-wrong");
    await tab.fill("_meta", '{"com.example/trace": "1"}');
    const made = await call(tab);
    equal(made.result.structuredContent.text, "two", "what was sent");
    equal(made.params._meta["com.example/trace"], "1", "_meta");
    equal(made.timeout, 20_000, "time limit");
    await tab.click("button", "Start over");
    await until(() => page.$eval('[id="args:%2Ftext"]', (field) => field.value === ""), "a form as at the start");
    await tab.click("button", "Take its arguments");
    await until(() => page.$eval('[id="args:%2Ftext"]', (field) => field.value === "two"), "the arguments of the call");
    await tab.click("tab", "Request");
    await tab.sees("com.example/trace", ".call-view");
    await tab.click("button", "Refresh");
    await tab.sees("every_field", "[role=listbox]");
  });

  await stage.check("a call without a connection offers to reconnect", async () => {
    stage.expect(/409 \(Conflict\)/);
    await tab.api("post", "/connections/c1/disconnect");
    await tab.sees("It is disconnected.");
    await tab.click("button", "Call");
    await tab.sees("is not connected", "main");
    await page.waitForSelector("main .notice.error");
    await page.locator("main .notice.error ::-p-aria(Reconnect)").click();
    await tab.connected();
    await until(async () => !(await tab.text("body")).includes("It is disconnected."), "it is said no more");
  });

  await stage.check("what is no number is not sent", async () => {
    await tab.fill("code", "ABC-12");
    await tab.fill("ratio", "a third");
    await tab.sees("This is not a number", ".tool");
    const before = await last(tab);
    await tab.click("button", "Call");
    await tab.sees("does not fit", ".tool");
    equal(await last(tab), before, "calls");
    await tab.fill("ratio", "0.5");
  });

  await stage.check("the form and its JSON change each other", async () => {
    await tab.click("button", "Form and JSON");
    await tab.fill("JSON of the arguments", '{"text": "from JSON", "count": 12345678901234567889, "unknown": 1}');
    await until(() => page.$eval('[id="args:%2Ftext"]', (field) => field.value === "from JSON"), "the form has what was typed as JSON");
    await tab.sees("is not a name that the schema allows", ".tool");
    await tab.click("button", "Leave out unknown");
    await tab.fill("Text text required", "from the form");
    const raw = await page.$eval(".raw-json textarea", (area) => area.value);
    assert(raw.includes('"from the form"') && raw.includes("12345678901234567889") && !raw.includes("unknown"), `the JSON is ${raw}`);
    await tab.fill("JSON of the arguments", '{"text": ');
    await until(() => page.$(".raw-json .error"), "an error of the JSON");
    equal(await page.$eval('[id="args:%2Ftext"]', (field) => field.value), "from the form", "the form after malformed JSON");
    await tab.fill("JSON of the arguments", '{"text": "kept"}');
    await tab.shot(stage.shots, "tools-json");
    await page.reload();
    await tab.sees("every_field", ".tool");
    await until(() => page.$eval('[id="args:%2Fcode"]', (field) => field.value === ""), "secret arguments are not kept over a reload");
    await tab.click("button", "Form");
  });

  await stage.check("the form has no violations of accessibility, and fits into a narrow window", async () => {
    for (const dark of [false, true]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
      const found = await tab.judge();
      assert(found.length === 0, found.join("\n"));
      await tab.shot(stage.shots, `tools-${dark ? "dark" : "light"}`);
    }
    await page.setViewport({ width: 360, height: 740 });
    await tab.fits();
    await tab.shot(stage.shots, "tools-narrow");
    await page.setViewport({ width: 1280, height: 860 });
  });
}

async function calls(stage) {
  const tab = await open(stage, fields);
  const { page } = tab;

  await stage.check("every kind of content", async () => {
    await tool(tab, "every_content");
    await call(tab);
    const text = await tab.text(".call-view");
    for (const want of ["Plain text with <b>no</b> markup.", "image/png", "audio/wav", "A file", "Embedded text", "test://bytes", "unheard-of"]) assert(text.includes(want), `${want} is not to be seen`);
    assert(await page.$eval(".call-view img", (image) => image.src.startsWith("data:") || image.src.startsWith("blob:")), "the image is not shown from its data");
    await tab.shot(stage.shots, "tools-content");
  });

  await stage.check("output that does not fit is shown with its places", async () => {
    await tool(tab, "misfit");
    const { check } = await call(tab);
    equal(check.fits, false, "check");
    const text = await tab.text(".call-view");
    for (const want of ["does not fit its schema", "/sum", "/parts/1/a~1b", "12345678901234567890"]) assert(text.includes(want), `${want} is not to be seen`);
    await tab.shot(stage.shots, "tools-misfit");
  });

  await stage.check("what a server says of an argument stands at its field", async () => {
    await tool(tab, "broken");
    await tab.click("button", "Fill in a");
    await tab.fill("b", "x");
    const failed = await call(tab);
    equal(failed.error.rpc.code, -32602, "code");
    await tab.sees("Too short", ".schema-form");
    await tab.shot(stage.shots, "tools-refused");
  });

  await stage.check("a call shows its progress and log, survives a reload, and is cancelled with a reason", async () => {
    await tool(tab, "steps");
    const before = await last(tab);
    await tab.click("button", "Call");
    await tab.sees("Step 3", ".call-view");
    await tab.sees("two steps are done", ".call-view");
    await page.reload();
    await tab.sees("running", ".call-view");
    await tab.shot(stage.shots, "tools-running");
    await tab.fill("Reason for cancelling", "enough of this");
    await tab.enter("button", "Cancel");
    const { state, error } = await ended(tab, before);
    equal(state, "cancelled", "state");
    equal(error.message, "enough of this", "reason");
    await until(async () => JSON.stringify(await tab.api("get", "/connections/c1")).includes("cancelled: enough of this"), "the server has heard the reason");
  });

  await stage.check("calls are listed, shown again and made again", async () => {
    await tool(tab, "misfit");
    await tab.click("tab", "Calls");
    await tab.click("link", "2");
    await tab.sees("Call 2", ".call-view");
    const before = await last(tab);
    await tab.click("button", "Call again");
    await ended(tab, before);
    await tab.click("tab", "Definition");
    await tab.sees("destructiveHint", ".tool");
  });

  await stage.check("results have no violations of accessibility", async () => {
    for (const name of ["misfit", "every_content"]) {
      await tool(tab, name);
      await call(tab);
      const found = await tab.judge();
      assert(found.length === 0, found.join("\n"));
    }
  });
}

async function many(stage) {
  const tab = await open(stage, fields, "--many", "10000");
  const { page } = tab;
  await stage.check("10,000 tools: few rows in the document, a search at once", async () => {
    await tab.go("#/c1/tools");
    await tab.sees("10,005 tools");
    const rows = () => page.$$eval("[role=option]", (all) => all.length);
    assert((await rows()) < 80, `${await rows()} rows`);
    const frames = await page.evaluate(async () => {
      const list = document.querySelector("[role=listbox]");
      const took = [];
      for (let i = 0; i < 60; i++) {
        list.scrollTop += 5000;
        const began = performance.now();
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        took.push(performance.now() - began);
      }
      return took.sort((a, b) => a - b);
    });
    assert((await rows()) < 80, `${await rows()} rows after scrolling`);
    // The machine may be busy: what is meant is a frame of 16 ms.
    assert(frames[30] < 250, `a frame takes ${frames[30].toFixed(0)} ms`);
    return `a frame takes ${frames[30].toFixed(1)} ms at the median and ${frames[57].toFixed(1)} ms at 95 %`;
  });
  await stage.check("10,000 tools: a key of a search is answered in time", () =>
    answers(stage, tab, async () => {
      await page.evaluate(() => document.activeElement.blur());
      await tab.press("/");
      await page.keyboard.down("Control");
      await tab.press("a");
      await page.keyboard.up("Control");
      await page.keyboard.sendCharacter("number 999");
      await tab.sees("tool_999", "[role=listbox]");
      return { "the last key of a search": await answer(tab, "9", { first: "tool_9999" }) };
    }), 240_000);
  await stage.check("the keyboard alone finds and calls a tool", async () => {
    await page.evaluate(() => document.activeElement.blur());
    await tab.press("/");
    await page.keyboard.down("Control");
    await tab.press("a");
    await page.keyboard.up("Control");
    await page.keyboard.type("number 1234 ");
    await tab.sees("1 of 10,005 tools");
    for (let i = 0; i < 10 && (await tab.focused())?.role !== "listbox"; i++) await tab.press("Tab");
    await tab.press("Enter");
    await tab.sees("tool_1234", ".tool");
    const field = await tab.named("textbox", "n");
    await field.focus();
    await page.keyboard.type("7");
    await page.keyboard.down("Control");
    await tab.press("Enter");
    await page.keyboard.up("Control");
    await tab.sees("done", ".call-view");
  });
}

async function reference(stage, way) {
  const { inspect } = await stage.reference(way);
  const tab = await stage.open(inspect.address, { as: way.name });
  await tab.connected();
  await stage.check(`${way.name}: text, image, sound, progress, a wrong argument`, async () => {
    await tool(tab, "calculate");
    const cut = await tab.page.$$eval(".tool-marks-short", (all) => all.filter((marks) => marks.scrollWidth > marks.clientWidth || marks.getBoundingClientRect().right > marks.closest(".tool-row").getBoundingClientRect().right).map((marks) => marks.innerText));
    equal(cut.join(), "", "badges that are cut");
    await tab.fill("expression required", "2 + 3 * 4");
    const sum = await call(tab);
    equal(sum.result.content[0].text, "14", "result");
    assert(sum.exchange > 0, "the call has no exchange");
    await tool(tab, "make_chart");
    for (const [i, value] of ["3", "-1"].entries()) {
      await tab.click("button", "Add an item to values");
      await tab.fill(`Item ${i + 1}`, value);
    }
    await call(tab);
    await tab.page.waitForFunction(() => document.querySelector(".call-view img")?.naturalWidth > 100, { polling: 50 });
    await tool(tab, "make_tone");
    await call(tab);
    // 2024-11-05 has no sound: the server says so in words.
    if (way.revision > "2025") await tab.page.waitForSelector(".call-view audio");
    await tool(tab, "query_database");
    await tab.fill("sql required", "no SQL");
    const wrong = await call(tab);
    assert(wrong.isError || wrong.error, "a query that is none has a result");
    await tab.shot(stage.shots, `tools-${way.name.replace(" ", "-")}`);
  });
  await stage.check(`${way.name}: progress, and a call that is cancelled`, async () => {
    await tool(tab, "count_slowly");
    await tab.fill("steps", "500");
    const before = await last(tab);
    await tab.click("button", "Call");
    await tab.page.waitForSelector(".call-live progress[value]");
    await tab.enter("button", "Cancel");
    equal((await ended(tab, before)).state, "cancelled", "state");
  });
}

async function official(stage, transport) {
  let tab;
  await stage.check(`server-everything, ${transport}: it is connected`, async () => {
    const { inspect } = await stage.everything({ transport });
    tab = await stage.open(inspect.address, { as: `server-everything, ${transport}` });
    await tab.connected();
  });
  if (!tab) return;
  await stage.check(`server-everything, ${transport}: each of its tools that needs nothing`, async () => {
    const { items } = await tab.api("get", "/connections/c1/lists/tools");
    const plain = items.filter(({ inputSchema, annotations, name }) => !(inputSchema.required?.length > 0) && !annotations?.destructiveHint && !/sampling|elicit|roots|toggle|long|research|env|async|gzip/i.test(name));
    for (const { name } of plain) {
      await tool(tab, name);
      const done = await call(tab);
      assert(done.state === "done" && !done.isError && done.check?.fits !== false, `${name}: ${JSON.stringify(done).slice(0, 500)}`);
    }
    return plain.map(({ name }) => name).join(", ");
  });
  await stage.check(`server-everything, ${transport}: echo, and its refusal at the field`, async () => {
    await tool(tab, "echo");
    await tab.click("button", "Call");
    await tab.sees("1 field does not fit.", ".tool");
    const before = await last(tab);
    await tab.click("button", "Call anyway");
    await ended(tab, before);
    await until(() => tab.page.$eval(".schema-form .error", (e) => e.innerText.length > "is required".length), "the server's words at the field");
    await tab.fill("message required", "hello");
    const { result } = await call(tab);
    equal(result.content[0].text, "Echo: hello", "result");
  });
}
