// Connecting: by the form and out of configuration files, over each transport, in the oldest
// and the newest revision; what fails says why; a reload keeps what was typed, and no secret.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Inspect, assert, brief, equal, everythingHTTP, installed, parley, serveHTTP, until } from "./lib.mjs";

export async function run(stage) {
  const served = await serveHTTP(parley);
  stage.after(() => served.end());
  const home = mkdtempSync(join(tmpdir(), "parley-connect-"));
  stage.after(() => rmSync(home, { recursive: true, force: true }));
  configure(home, served.origin);
  const inspect = await stage.inspect([], { HOME: home, XDG_CONFIG_HOME: join(home, ".config"), PARLEY_CREDENTIALS: join(home, "credentials") });
  const tab = await stage.open(inspect.address);
  stage.expect(/400 \(Bad Request\).*\/api\/v1\/connections/); // forms that make no sense
  stage.expect(/404 \(Not Found\).*\/api\/v1\/connections\/c\d+(\/login)?$/); // a connection that is closed while the page reads it
  await forms(stage, tab, served);
  await official(stage, tab);
  await failures(stage, tab, served);
  await files(stage, tab);
  await changes(stage, tab);
  await inputs(stage, tab);
  await looks(stage, tab, inspect);
  await fromCommandLine(stage, home);
}

function configure(home, origin) {
  const settings = {
    mcpServers: {
      shop: { command: parley, args: ["serve", "--stdio"], env: { SHOP_TOKEN: "swordfish" } },
      remote: { url: `${origin}/mcp`, headers: { "X-Team": "swordfish" } },
      broken: { args: ["nothing"] },
      unset: { command: parley, args: ["${NOT_SET_ANYWHERE}"] },
    },
  };
  mkdirSync(join(home, ".cursor"), { recursive: true });
  writeFileSync(join(home, ".cursor", "mcp.json"), JSON.stringify(settings));
  const code = join(home, ".config", "Code", "User");
  mkdirSync(code, { recursive: true });
  writeFileSync(
    join(code, "mcp.json"),
    `{
  "inputs": [
    { "type": "promptString", "id": "shop-token", "description": "Token of the shop", "password": true },
    { "type": "pickString", "id": "how", "description": "How to serve", "options": ["--http", "--stdio"], "default": "--stdio" }, // as VS Code asks
  ],
  "servers": { "asking": { "type": "stdio", "command": "sh", "args": ["-c", ${JSON.stringify(`exec ${parley} serve "$0"`)}, "\${input:how}", "\${input:shop-token}"] } },
}`,
  );
}

/** fresh opens the form, empty, and says to what to connect. */
async function fresh(tab, server, { revision, transport } = {}) {
  await tab.go("#/home");
  await tab.sees("Connect to a server", "main");
  await tab.fill("Server", server);
  const choose = async (name, value) => value && tab.choose(await tab.named("combobox", name), value);
  await choose("Revision", revision);
  await choose("Transport", transport);
}

/** arrives presses Connect, and waits for the overview of the connection. */
async function arrives(tab) {
  await tab.click("button", "Connect");
  await tab.page.waitForFunction(() => /^#\/c\d+$/.test(location.hash), { polling: 50 });
  const id = await tab.page.evaluate(() => location.hash.slice(2));
  return id;
}

async function forms(stage, tab, served) {
  const command = `${parley} serve --stdio`;
  for (const [name, server, how, transport, revision] of [
    ["a command, oldest", command, { revision: "2024-11-05" }, "standard input and output", "2024-11-05"],
    ["a command, newest", command, { revision: "2026-07-28" }, "standard input and output", "2026-07-28"],
    ["a URL, whichever", `${served.origin}/mcp`, {}, "Streamable HTTP", "2026-07-28"],
    ["a URL, a session", `${served.origin}/mcp`, { revision: "2025-06-18", transport: "http" }, "Streamable HTTP", "2025-06-18"],
    ["a URL, oldest", `${served.origin}/sse`, { revision: "2024-11-05" }, "HTTP+SSE", "2024-11-05"],
    ["a URL, HTTP+SSE asked for", `${served.origin}/sse`, { transport: "sse" }, "HTTP+SSE", ""],
  ]) {
    await stage.check(`connects: ${name}`, async () => {
      await fresh(tab, server, how);
      await arrives(tab);
      await tab.sees("Connected", "main");
      const text = await tab.sees("Capabilities", "main");
      assert(text.includes(transport) && text.includes(revision), `not ${transport} ${revision}: ${brief(text, 800)}`);
      await tab.click("button", "Ping");
      await tab.sees("The server answered in", "main");
      await tab.click("button", "Disconnect");
      await tab.sees("Disconnected", "main");
      await tab.click("button", "Reconnect");
      await tab.sees("Connected", "main");
      await tab.click("button", "Close for good");
      await tab.confirm();
      await tab.sees("Connect to a server", "main");
    });
  }

  await stage.check("the server's card is looked for when somebody wants it", async () => {
    await fresh(tab, `${served.origin}/mcp`);
    await arrives(tab);
    const before = await tab.sees("It is fetched without credentials.", "section[aria-label='Server card']");
    assert(!before.includes("/mcp/server-card"), `it was looked for already: ${before}`);
    await tab.click("button", "Look for a card");
    const text = await tab.sees("/mcp/server-card", "section[aria-label='Server card']");
    assert(text.includes('"remotes"') && text.includes("reference"), brief(text, 800));
    await tab.shot(stage.shots, "connect-card");
    equal((await tab.judge()).join("\n"), "", "card");
    await tab.click("button", "Close for good");
    await tab.confirm();
    await tab.sees("Connect to a server", "main");
  });

  await stage.check("the keyboard alone connects", async () => {
    await tab.go("#/home");
    await tab.fill("Server", command);
    await tab.press("Enter");
    await tab.sees("Connected", "main");
    await tab.click("button", "Close for good");
    await tab.confirm();
  });

  await stage.check("several at once", async () => {
    for (const revision of ["2024-11-05", "2025-11-25", "2026-07-28"]) {
      await fresh(tab, command, { revision });
      await arrives(tab);
      await tab.sees("Connected", "main");
    }
    const { connections } = await tab.api("get", "/connections");
    equal(connections.map((c) => c.revision).join(), "2024-11-05,2025-11-25,2026-07-28", "revisions");
    for (const { id } of connections) await tab.api("del", `/connections/${id}`);
  });
}

/** official connects to the official server that has everything, over each of its transports. */
async function official(stage, tab) {
  for (const transport of ["stdio", "HTTP", "SSE"]) {
    await stage.check(`connects: server-everything, ${transport}`, async () => {
      const served = transport === "stdio" ? undefined : await everythingHTTP(transport);
      stage.after(() => served?.end());
      await fresh(tab, served?.url ?? `${process.execPath} ${installed()} stdio`, transport === "SSE" ? { transport: "sse" } : {});
      await arrives(tab);
      await tab.sees("Connected", "main");
      const text = await tab.sees("Capabilities", "main");
      const spoken = { stdio: "standard input and output", HTTP: "Streamable HTTP", SSE: "HTTP+SSE" }[transport];
      for (const part of [spoken, "2025-11-25", "mcp-servers/everything"]) assert(text.includes(part), `no ${part}: ${brief(text, 1500)}`);
      await tab.click("button", "Ping");
      await tab.sees("The server answered in", "main");
      await tab.shot(stage.shots, `connect-everything-${transport}`);
      await tab.click("button", "Close for good");
      await tab.confirm();
      await tab.sees("Connect to a server", "main");
    });
  }
}

async function failures(stage, tab, served) {
  for (const [name, server, how, message, wayOut] of [
    ["no such command", "parley-no-such-program", {}, "executable file not found", "PATH"],
    ["a command that ends", `${parley} version`, {}, "ended", "Does this command start an MCP server"],
    ["nothing listens", "http://127.0.0.1:9/mcp", {}, "connection refused", "is the port right"],
    ["unknown host", "http://no-such-host.invalid/mcp", {}, "no-such-host", "spelled right"],
    ["no path", `${served.origin}/`, {}, "404", "That of many servers is /mcp"],
    ["another transport", `${served.origin}/mcp`, { transport: "sse" }, "", "sse"],
  ]) {
    await stage.check(`fails, and says what to do: ${name}`, async () => {
      await fresh(tab, server, how);
      const id = await arrives(tab);
      const text = await tab.sees("Not connected", "main");
      assert(text.includes(message) && text.includes(wayOut), brief(text, 1200));
      await tab.sees("Change how to connect");
      await tab.api("del", `/connections/${id}`);
    });
  }

  await stage.check("a form that makes no sense says where", async () => {
    await tab.go("#/home");
    await tab.fill("Server", "run 'this");
    await tab.click("button", "Connect");
    await tab.sees("a quote is not closed", "form");
    assert(await tab.page.$("input[aria-invalid=true]"), "no field is marked");
    const before = (await tab.api("get", "/connections")).connections.length;
    for (const [server, why] of [["localhost:8080/mcp", "http:// or https:// is missing"], ["ftp://example.com/mcp", "A server cannot be reached by ftp://"], ['{"a": 1}', "names no servers"]]) {
      await tab.fill("Server", server);
      await tab.click("button", "Connect");
      await tab.sees(why, "form");
    }
    equal((await tab.api("get", "/connections")).connections.length, before, "connections");
    const recent = await tab.text("[aria-label=Recent]");
    for (const part of ["localhost", "ftp:", "{"]) assert(!recent.includes(part), `${part} is among the recent ones: ${recent}`);
  });

  await stage.check("the servers of a configuration that is pasted are offered", async () => {
    await tab.fill("Server", JSON.stringify({ mcpServers: { pasted: { command: parley, args: ["serve", "--stdio"], env: { KEY: "swordfish" } } } }));
    await tab.click("button", "pasted");
    equal(await (await tab.named("textbox", "Server")).evaluate((e) => e.value), `${parley} serve --stdio`, "the command");
    equal(await (await tab.named("textbox", "Name of variable 1")).evaluate((e) => e.value), "KEY", "the variable");
    await until(() => tab.page.evaluate(() => sessionStorage.getItem("parley:connect")?.includes("serve --stdio")), "the draft is kept");
    assert(!(await tab.page.evaluate(() => JSON.stringify({ ...sessionStorage }))).includes("swordfish"), "a secret is in the storage");
  });
}

async function files(stage, tab) {
  await stage.check("configuration files: what they name, without secrets", async () => {
    await tab.go("#/home");
    const text = await tab.sees("shop", "main");
    for (const part of [".cursor/mcp.json", "Cursor", "SHOP_TOKEN=***", "X-Team=***", "neither a url nor a command"]) assert(text.includes(part), `no ${part}: ${brief(text, 1500)}`);
    assert(!(await tab.page.content()).includes("swordfish"), "a secret is in the page");
    const button = await tab.named("button", "Connect to broken");
    assert(await button.evaluate((b) => b.disabled), "a broken entry can be connected to");
  });

  await stage.check("an entry that cannot be resolved says why", async () => {
    await tab.click("button", "Connect to unset");
    await tab.sees("the variable NOT_SET_ANYWHERE is not set", "main");
  });

  await stage.check("an entry is connected to", async () => {
    await tab.click("button", "Connect to shop");
    await tab.sees("Connected", "main");
    const text = await tab.text();
    assert(text.includes("shop in") && text.includes("SHOP_TOKEN=***"), brief(text, 1000));
    assert(!JSON.stringify(await tab.api("get", "/connections")).includes("swordfish"), "the API tells a secret");
  });
}

async function inputs(stage, tab) {
  await stage.check("what a configuration file leaves to the user is asked for, and masked", async () => {
    await tab.go("#/home");
    await tab.click("button", "Connect to asking");
    await tab.sees("Token of the shop", "dialog");
    equal(await tab.page.$eval("dialog select", (select) => select.value), "--stdio", "the default");
    equal(await tab.page.$eval("dialog input", (input) => input.type), "password", "the field of a password");
    await tab.page.focus("dialog input");
    await tab.press("Enter");
    await tab.page.waitForSelector("dialog input[aria-invalid=true]");
    await tab.shot(stage.shots, "connect-inputs");
    equal((await tab.judge()).join("\n"), "", "axe");
    await tab.page.type("dialog input", "sword-of-the-shop");
    await tab.press("Enter");
    await tab.sees("Connected", "main");
    const text = await tab.sees("asking in", "main");
    assert(text.includes("--stdio ***"), brief(text, 1000));
    assert(!JSON.stringify(await tab.api("get", "/connections")).includes("sword-of-the-shop"), "the API tells a secret");
    assert(!(await tab.page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).includes("sword-of-the-shop"), "a secret is in the storage");
  });

  await stage.check("how to connect can be changed, and keeps what was given", async () => {
    await tab.click("link", "Change…");
    await tab.sees("Change asking", "main");
    await tab.choose(await tab.named("combobox", "Revision"), "2024-11-05");
    await tab.click("button", "Change and reconnect");
    await tab.sees("Connected", "main");
    const text = await tab.sees("2024-11-05", "main");
    assert(text.includes("--stdio ***"), brief(text, 1000));
  });

  await stage.check("a recent connection asks again", async () => {
    await tab.go("#/home");
    await tab.page.waitForSelector("[aria-label=Recent] li");
    await tab.page.$$eval("[aria-label=Recent] li", (all) => all.find((li) => li.innerText.includes("asking")).querySelector("button").click());
    await tab.sees("Token of the shop", "dialog");
    await tab.press("Escape");
    await tab.page.waitForSelector("dialog", { hidden: true });
    const { connections } = await tab.api("get", "/connections");
    await tab.api("del", `/connections/${connections.at(-1).id}`);
  });
}

async function changes(stage, tab) {
  await stage.check("a reload keeps the connection and the place", async () => {
    await tab.page.reload();
    await tab.sees("Connected", "main");
    await tab.sees("shop in", "main");
  });

  await stage.check("how to connect can be changed, and secrets stay", async () => {
    await tab.click("link", "Change…");
    await tab.sees("Change shop", "main");
    await tab.choose(await tab.named("combobox", "Revision"), "2025-11-25");
    await tab.click("button", "Change and reconnect");
    await until(async () => {
      const { connections } = await tab.api("get", "/connections");
      return connections.at(-1).state === "up" && connections.at(-1).revision === "2025-11-25";
    }, "the other revision");
    const text = await tab.sees("2025-11-25", "main");
    assert(text.includes("SHOP_TOKEN=***"), brief(text, 800));
  });

  await stage.check("what was typed survives a reload, except for secrets", async () => {
    await tab.go("#/home");
    await tab.fill("Server", "https://example.com/mcp");
    await tab.click("button", "Add a header");
    await tab.fill("Name of header 1", "X-Secret");
    await (await tab.named("textbox", "Value of header 1")).type("swordfish");
    await tab.page.reload();
    await tab.sees("Connect to a server", "main");
    const values = await tab.page.$$eval("form input", (inputs) => inputs.map((input) => input.value));
    assert(values.includes("https://example.com/mcp") && values.includes("X-Secret"), `forgotten: ${values}`);
    assert(!values.includes("swordfish"), "a secret was kept in the page");
    assert(!(await tab.page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).includes("swordfish"), "a secret is in the storage");
  });

  await stage.check("what was never there is not said to list nothing", async () => {
    const { id } = await tab.api("post", "/connections", { args: ["parley-no-such-program"], title: "nowhere" });
    await tab.go(`#/${id}/tools`);
    const text = await tab.sees("It is not connected.");
    assert(!text.includes("lists no tools") && (await tab.page.$$("main .notice.error")).length === 0, text);
    await tab.shot(stage.shots, "connection-failed-tools");
    await tab.api("del", `/connections/${id}`);
  });

  await stage.check("a command that dies is seen at once", async () => {
    const { id } = await tab.api("post", "/connections", { args: ["timeout", "2", parley, "serve", "--stdio"], title: "mortal" });
    await tab.go(`#/${id}`);
    await tab.sees("Connected", "main");
    const text = await tab.sees("Connection lost", "main");
    assert(text.includes("The server went away. Reconnect"), brief(text, 800));
    await tab.go(`#/${id}/tools`);
    const tools = await tab.sees("The connection is lost.");
    assert(!tools.includes("The server lists no tools"), `what is not known is claimed: ${tools}`);
    equal((await tab.judge()).join("\n"), "", "axe");
    await tab.shot(stage.shots, "connection-lost");
    await tab.click("button", "Reconnect");
    await until(async () => !(await tab.text("body")).includes("The connection is lost."), "it is back");
    await tab.sees("calculate", "main");
    await tab.go(`#/${id}`);
    await tab.sees("Connected", "main");
    await tab.api("del", `/connections/${id}`);
  });
}

async function looks(stage, tab, inspect) {
  await stage.check("the overview and the form are fit to be seen", async () => {
    const { connections } = await tab.api("get", "/connections");
    await tab.go(`#/${connections[0].id}`);
    await tab.sees("Capabilities", "main");
    await tab.shot(stage.shots, "overview");
    equal((await tab.judge()).join("\n"), "", "overview");
    await tab.go("#/home");
    await tab.sees("In configuration files", "main");
    await tab.shot(stage.shots, "connect");
    equal((await tab.judge()).join("\n"), "", "form");
  });

  await stage.check("in the dark, in a narrow window", async () => {
    const narrow = await stage.open(await inspect.another(), { width: 360, height: 780, dark: true, as: "narrow" });
    await narrow.go("#/home");
    await narrow.sees("In configuration files", "main");
    await narrow.fits();
    await narrow.shot(stage.shots, "connect-narrow");
    const { connections } = await narrow.api("get", "/connections");
    await narrow.go(`#/${connections[0].id}`);
    await narrow.sees("Capabilities", "main");
    await narrow.fits();
    await narrow.shot(stage.shots, "overview-narrow");
    equal((await narrow.judge()).join("\n"), "", "overview");
  });
}

async function fromCommandLine(stage, home) {
  await stage.check("the command line names the first server", async () => {
    const inspect = await Inspect.start(["@shop", "--revision", "2025-06-18"], { HOME: home, XDG_CONFIG_HOME: join(home, ".config") });
    stage.after(() => inspect.end());
    const tab = await stage.open(inspect.address, { as: "first" });
    await tab.sees("Connected", "main");
    await tab.sees("2025-06-18", "main");
  });

  await stage.check("a file of the command line is the only one", async () => {
    const file = join(home, ".cursor", "mcp.json");
    const inspect = await Inspect.start(["@remote", "--config", file], { HOME: home, XDG_CONFIG_HOME: join(home, ".config"), PARLEY_CREDENTIALS: "/dev/null/nowhere" });
    stage.after(() => inspect.end());
    const tab = await stage.open(inspect.address, { as: "file" });
    await tab.sees("Connected", "main");
    await tab.go("#/home");
    await tab.sees(file, "main");
    await tab.click("button", "Connect to shop");
    await tab.sees("Connected", "main");
    await tab.sees("standard input and output", "main");
  });
}
