// Prompts: found, completed, filled in and read.

import { assert, equal, transports, ways } from "./lib.mjs";

export async function run(stage) {
  for (const way of ways) await reference(stage, way);
  for (const transport of transports) await others(stage, transport);
}

async function reference(stage, way) {
  const { inspect } = await stage.reference(way);
  const tab = await stage.open(inspect.address, { as: way.name });
  const check = (name, f) => stage.check(`${way.name} · ${name}`, f);

  await check("a prompt is picked with the keyboard, and what is missing is said", async () => {
    await tab.connected();
    await tab.go("#/c1/prompts");
    await tab.page.waitForSelector("[role=option]");
    await tab.page.focus("[role=listbox]");
    await tab.press("Home");
    await tab.press("Enter");
    await tab.sees("Asks for a review of a piece of code", "section.detail");
    await tab.click("button", "Get the prompt");
    await tab.sees("This argument is required");
    await tab.shot(stage.shots, `prompt-missing-${way.name.replace(" ", "-")}`);
  });

  await check("arguments are completed, and the messages shown", async () => {
    await tab.page.type("section.detail .field input", "x := 1");
    await tab.page.type("section.detail .field:nth-of-type(2) input", "py");
    await tab.page.waitForSelector(".complete [role=option]");
    await tab.shot(stage.shots, `prompt-completes-${way.name.replace(" ", "-")}`);
    await tab.press("ArrowDown");
    await tab.press("Enter");
    equal(await tab.page.$eval("section.detail .field:nth-of-type(2) input", (input) => input.value), "python", "the language");
    await tab.press("Enter");
    await tab.sees("x := 1", "section[aria-label=Messages]");
    await tab.sees("user", "section[aria-label=Messages]");
    await tab.shot(stage.shots, `prompt-${way.name.replace(" ", "-")}`);
  });

  await check("a reload loses nothing", async () => {
    await tab.page.reload();
    await tab.sees("x := 1", "section[aria-label=Messages]");
    equal(await tab.page.$eval("section.detail .field:nth-of-type(2) input", (input) => input.value), "python", "the language");
  });

  await check("embedded resources of messages are shown", async () => {
    await tab.go("#/c1/prompts/analyze_logs");
    await tab.page.waitForSelector("section.detail form input");
    await tab.page.type("section.detail .field input", "1h");
    await tab.press("Escape");
    await tab.click("button", "Get the prompt");
    await tab.sees("log://recent", "section[aria-label=Messages]");
  });
}

async function others(stage, transport) {
  await stage.check(`server-everything, ${transport} · completion knows the other arguments`, async () => {
    const { inspect } = await stage.everything({ transport });
    const tab = await stage.open(inspect.address, { as: `server-everything, ${transport}` });
    await tab.connected();
    const { items } = await tab.api("get", "/connections/c1/lists/prompts");
    const prompt = items.find(({ name }) => name.includes("completable"));
    assert(prompt, `no prompt that completes: ${items.map(({ name }) => name)}`);
    await tab.go(`#/c1/prompts/${prompt.name}`);
    await tab.page.waitForSelector("section.detail form input[role=combobox]");
    await tab.page.waitForFunction(() => document.activeElement.id === "main"); // a view takes the focus once it is shown
    await tab.page.type("section.detail .field input", "Eng");
    await tab.page.waitForSelector(".complete [role=option]");
    await tab.press("ArrowDown");
    await tab.press("Enter");
    await tab.page.type("section.detail .field:nth-of-type(2) input", "A");
    await tab.sees("Alice", ".complete [role=listbox]");
    await tab.press("ArrowDown");
    await tab.press("Enter");
    await tab.click("button", "Get the prompt");
    await tab.sees("Alice", "section[aria-label=Messages]");
    await tab.shot(stage.shots, `prompt-everything-${transport}`);
  });
}
