// Runs the official clients in TypeScript, Python and Go, of five revisions, against one
// `parley gateway`, on standard input and output and over HTTP. Behind it are at once the
// official servers everything, filesystem and memory, one of fastmcp, one in Rust, the
// reference server over HTTP, and one that does not start. See ../README.md.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { outcomes, start } from "../lib/process.mjs";
import { Report, assert, brief, equal, skip, within } from "../lib/report.mjs";
import { gatewayHTTP, serveHTTP } from "../lib/serve.mjs";
import { peers, runClient } from "../python/clients.mjs";
import { canVisit, clients, packageOf } from "../typescript/clients.mjs";
import { configure, expected, hasRust } from "./backends.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const parley = process.env.PARLEY ? resolve(process.env.PARLEY) : resolve(here, "../../.tmp/parley");
const tourist = resolve(here, "../../.tmp/interop-go");
const limit = 30_000;

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" }, // a part of a row's name: a revision, a transport, a package
    trace: { type: "boolean", default: false }, // everything that clients in Python write, to standard error
  },
});

for (const file of [parley, tourist]) {
  if (!existsSync(file)) {
    console.error(`${file} does not exist: interop/run.sh builds it`);
    process.exit(2);
  }
}

const scratch = mkdtempSync(join(tmpdir(), "parley-interop-"));
// What the reference server may look at, of which each client allows a part.
const root = join(scratch, "root");
mkdirSync(join(root, "part"), { recursive: true });
writeFileSync(join(root, "outside.txt"), "outside");
writeFileSync(join(root, "part", "here.txt"), "here");
writeFileSync(join(root, "part", "note.txt"), "");
const reference = await serveHTTP(parley, ["--root", root]);
const file = configure(parley, scratch, reference.origin);
const expectations = expected(file, scratch);
const gateway = await gatewayHTTP(parley, file);

const columns = [
  ...["version", "tools", "call", "files", "memory", "fastmcp", "rmcp", "reference", "structured", "wrong", "unknown", "read", "prompt"],
  ...["complete", "progress", "cancel", "level", "subscribe", "lists", "elicit", "visit", "sample", "roots", "down", "close"],
];
const report = new Report("client of the gateway", columns);
if (!hasRust) report.note("rmcp: interop/run.sh did not build the server in Rust");

// One after the other: over HTTP, all of them are one user of the same processes.
for (const client of clients) {
  const { name, version } = packageOf(client);
  for (const transport of ["stdio", client.remote ?? "http"]) {
    const row = rowOf(client.revision, transport, `${name.replace("@modelcontextprotocol/", "")} ${version}`, client.label);
    if (row) await run(client, transport, row);
  }
}
// What client.py checks, and in which column it stands here.
const checks = {
  ...{ connect: "version", list: "tools", call: "reference", "wrong args": "wrong", "unknown tool": "unknown", read: "read" },
  ...{ prompt: "prompt", complete: "complete", progress: "progress", cancel: "cancel", elicit: "elicit", sample: "sample" },
  ...Object.fromEntries(expectations.others.map(({ column }) => [`other ${column}`, column])),
  end: "close",
};
for (const peer of peers) {
  for (const way of peer.ways ?? ["stdio", "http"]) {
    const row = rowOf(peer.revision, way, `${peer.package} ${peer.version}`);
    if (!row) continue;
    await runClient({ report, row, peer, way, parley, origin: gateway.origin, server: expectations, checks, trace: flags.trace });
  }
}
for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]) {
  for (const way of ["stdio", revision === "2024-11-05" ? "sse" : "http"]) {
    const row = rowOf(revision, way, "go-sdk 1.8.0");
    if (row) await runTour(revision, way, row);
  }
}

const { code } = await gateway.end();
await report.check(report.row("the gateway over http and sse"), "close", limit, () => equal(code, 0, `exit code, after ${brief(gateway.log(), 2000)}`));
await reference.end();
rmSync(scratch, { recursive: true, force: true });
report.print();
process.exit(report.failed > 0 || report.passed === 0 ? 1 : 0);

/** rowOf returns the row of a client, unless it is not wanted. */
function rowOf(revision, way, name, remark) {
  const label = [revision, way.padEnd(5), name, remark].filter(Boolean).join(" ");
  return !flags.only || label.includes(flags.only) ? report.row(label) : undefined;
}

/** cancelledCalls returns the lines of the reference server's log about calls that were cancelled. */
async function cancelledCalls(sdk) {
  const { contents } = await sdk.readResource({ uri: expectations.log.uri });
  const cancelled = new RegExp(expectations.log.cancelled);
  return contents[0].text.split("\n").filter((line) => cancelled.test(line));
}

/** until waits until something is so. */
async function until(isSo, what) {
  for (const end = Date.now() + limit / 2; !(await isSo()); await sleep(20)) assert(Date.now() < end, `${what} did not come`);
}

/** runTour runs the client of the Go SDK, which checks what is expected itself. */
async function runTour(revision, way, row) {
  const url = way === "stdio" ? "" : `${gateway.origin}/${way === "sse" ? "sse" : "mcp"}`;
  const command = [parley, ...expectations.stdio];
  const run = start(tourist, ["tour", JSON.stringify({ command, url, revision, name: "parley-gateway", server: expectations })]);
  row.context = () => run.stderr.trim().slice(-1500);
  await within(4 * limit, run.ended, "end of the client").catch(() => run.child.kill("SIGKILL"));
  const said = outcomes(run.stdout);
  const wanted = Object.values(checks).filter((column) => column !== "wrong" && column !== "cancel");
  for (const column of wanted) {
    const passed = await report.check(row, column, limit, () => {
      if (column === "elicit" && revision < "2025-06-18") skip("the revision has no elicitation");
      assert(said[column], "the client did not get this far");
      assert(said[column].passed, said[column].text);
    });
    if (!passed && column === "version") break; // what follows would only hide it
  }
}

async function run(client, way, row) {
  const asked = [];
  const place = way === "stdio" ? { command: parley, args: expectations.stdio } : { origin: gateway.origin };
  const session = await client.open(client, place, {
    elicitation: async (request) => {
      asked.push(request.params);
      return { action: "accept", content: { name: "Ada", email: "ada@example.com", check: true, integer: 7, confirm: "yes" } };
    },
    sampling: async (request) => {
      asked.push(request.params);
      return { role: "assistant", model: "interop", stopReason: "endTurn", content: { type: "text", text: "because of Rayleigh" } };
    },
    roots: async () => ({ roots: [{ uri: pathToFileURL(join(root, "part")).href, name: "part" }] }),
    visits: true,
  });
  const { sdk, wire } = session;
  const modern = client.revision === "2026-07-28";
  const check = (column, body) => report.check(row, column, limit, body);
  const call = async (name, args = {}, options, more) => {
    const result = await session.callTool({ name, arguments: args, ...more }, options);
    return { ...result, text: (result.content ?? []).map((block) => block.text ?? "").join("\n") };
  };

  const connected = await check("version", async () => {
    await session.connect();
    equal(session.revision(), client.revision, "negotiated revision");
    equal(sdk.getServerVersion().name, "parley-gateway", "name of the server");
  });
  if (!connected) return;
  await check("tools", async () => {
    const names = (await session.list.tools()).tools.map((tool) => tool.name);
    for (const name of ["everything__echo", "filesystem__write_file", "memory__create_entities", "ref__calculate"]) {
      assert(names.includes(name), `no ${name} among ${names.join(", ")}`);
    }
    assert(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name)), `a name that some models do not take: ${names.join(", ")}`);
  });
  await check("call", async () => {
    const { text } = await call("everything__echo", { message: "2 + 2" });
    equal(text, "Echo: 2 + 2", "the echo");
    const { content } = await call("everything__get-tiny-image");
    assert(content.some((block) => block.type === "image"), `no image in ${brief(content)}`);
  });
  await check("files", async () => {
    // The server confines itself to the client's roots, and does not make files at their top.
    const path = join(root, "part", "note.txt");
    const written = await call("filesystem__write_file", { path, content: client.revision });
    assert(!written.isError, `writing fails: ${written.text}`);
    const { text } = await call("filesystem__read_text_file", { path });
    assert(text.includes(client.revision), `the file has ${text}`);
    const { isError } = await call("filesystem__read_text_file", { path: "/etc/passwd" });
    equal(isError, true, "reading outside of the folder fails");
  });
  await check("memory", async () => {
    const name = `${client.revision} ${way} ${client.label ?? ""}`;
    await call("memory__create_entities", { entities: [{ name, entityType: "client", observations: ["was here"] }] });
    const { text } = await call("memory__read_graph");
    assert(text.includes(name), `the graph has ${brief(text)}`);
  });
  for (const { column, name, arguments: args, contains } of expectations.others.filter(({ column }) => ["fastmcp", "rmcp"].includes(column))) {
    await check(column, async () => {
      const { text } = await call(name, args);
      assert(text.includes(contains), `${name} says ${text}`);
    });
  }
  await check("reference", async () => {
    const { text } = await call("ref__calculate", { expression: "6 * 7" });
    equal(text, "42", "the answer");
  });
  await check("structured", async () => {
    const { name, arguments: args, member, value } = expectations.structured;
    const { structuredContent } = await call(name, args);
    if (client.revision < "2025-06-18") skip("the revision has no structured content");
    equal(structuredContent?.[member], value, `${member} of ${brief(structuredContent)}`);
  });
  await check("wrong", async () => {
    const { name, wrongArguments, missing } = expectations.calculate;
    const { isError, text } = await call(name, wrongArguments);
    equal(isError, true, "isError");
    assert(text.includes(missing), `the text does not name the missing argument: ${brief(text)}`);
  });
  await check("unknown", async () => {
    for (const name of ["ref__no_such_tool", "nobody__echo", "echo"]) {
      const error = await session.callTool({ name, arguments: {} }).then(() => undefined, (e) => e);
      equal(error?.code, -32602, `code of ${error?.message}`);
    }
  });
  await check("read", async () => {
    const { resources } = await session.list.resources();
    const uri = "mcp:everything:demo://resource/static/document/features.md";
    assert(resources.some((resource) => resource.uri === uri), `no ${uri} among ${brief(resources.map((r) => r.uri))}`);
    const { contents } = await sdk.readResource({ uri });
    equal(contents[0].uri, uri, "URI of the contents");
    const other = await sdk.readResource({ uri: "mcp:ref:server://info" });
    assert(JSON.parse(other.contents[0].text), "no JSON");
  });
  await check("prompt", async () => {
    const { prompts } = await session.list.prompts();
    const names = prompts.map((prompt) => prompt.name);
    assert(names.includes("everything__simple-prompt") && names.includes("ref__code_review"), `the prompts are ${names.join(", ")}`);
    const { messages } = await sdk.getPrompt({ name: "everything__args-prompt", arguments: { city: "Chicago", state: "Illinois" } });
    assert(JSON.stringify(messages).includes("Chicago"), brief(messages));
  });
  await check("complete", async () => {
    const { completion } = await sdk.complete({ ref: { type: "ref/prompt", name: "ref__code_review" }, argument: { name: "language", value: "py" } });
    assert(completion.values.includes("python"), brief(completion));
  });
  await check("progress", async () => {
    const seen = [];
    const { text } = await call("everything__trigger-long-running-operation", { duration: 1, steps: 4 }, { onprogress: (p) => seen.push(p.progress) });
    assert(text.includes("completed") && seen.length >= 2, `${brief(text)}, progress ${seen}`);
  });
  await check("cancel", async () => {
    const { name, arguments: args } = expectations.slow;
    const before = await cancelledCalls(sdk);
    const controller = new AbortController();
    const options = { signal: controller.signal, onprogress: () => controller.abort("enough") };
    const ended = await session.callTool({ name, arguments: args }, options).then(() => "a result", () => "an error");
    equal(ended, "an error", "what a cancelled call ends with");
    await until(async () => (await cancelledCalls(sdk)).length > before.length, "the server's log of the cancelled call");
  });
  // The reference server logs, changes a resource and adds one when a table is imported.
  const tables = report.rows.indexOf(row);
  let imports = 0;
  const importTable = (meta) =>
    call("ref__import_csv", { csv: "id\n1", table: `t${tables}_${++imports}` }, undefined, meta && { _meta: meta });
  await check("level", async () => {
    const logged = () => wire.received("notifications/message").filter(({ params }) => params.logger === "import_csv").length;
    for (const [level, heard] of [["error", false], ["info", true]]) {
      const before = logged();
      if (!modern) await sdk.setLoggingLevel(level);
      await importTable(modern && { "io.modelcontextprotocol/logLevel": level });
      if (heard) await until(() => logged() > before, `what is logged at the level ${level}`);
      else equal(logged(), before, `messages at the level ${level}`);
    }
  });
  await check("subscribe", async () => {
    const { uri } = expectations.change;
    const changes = () => wire.received("notifications/resources/updated").filter(({ params }) => params.uri === uri).length;
    const before = changes();
    const listening = modern ? await sdk.listen({ resourceSubscriptions: [uri] }) : await sdk.subscribeResource({ uri });
    await importTable();
    await until(() => changes() > before, `the change of ${uri}`);
    if (modern) await listening.close();
    else await sdk.unsubscribeResource({ uri });
  });
  await check("lists", async () => {
    const changes = () => wire.received("notifications/resources/list_changed").length;
    const before = changes();
    const listening = modern && (await sdk.listen({ resourcesListChanged: true }));
    await importTable();
    await until(() => changes() > before, "the change of the list");
    const { resources } = await session.list.resources();
    const uri = `mcp:ref:db://tables/t${tables}_${imports}`;
    assert(resources.some((resource) => resource.uri === uri), `no ${uri} among ${brief(resources.map((r) => r.uri))}`);
    if (listening) await listening.close();
  });
  await check("elicit", async () => {
    if (!client.elicitation) skip("the client has no elicitation");
    asked.length = 0;
    const { text } = await call("everything__trigger-elicitation-request");
    assert(text.includes("User provided the requested information") && asked.length === 1, `${brief(text)}, asked ${asked.length} times`);
  });
  await check("visit", async () => {
    if (!canVisit(client)) skip("the client cannot send its user anywhere");
    asked.length = 0;
    const url = "https://pay.example/1";
    await call("everything__trigger-url-elicitation", { url, message: "Pay", elicitationId: `e-${tables}` });
    equal(asked[0]?.url, url, `what the user is asked, ${brief(asked)}`);
  });
  await check("sample", async () => {
    asked.length = 0;
    const { text } = await call("everything__trigger-sampling-request", { prompt: "Why is the sky blue?", maxTokens: 50 });
    assert(text.includes("because of Rayleigh") && asked.length === 1, `${brief(text)}, asked ${asked.length} times`);
  });
  await check("roots", async () => {
    const { name, arguments: args, inside, outside } = expectations.roots;
    const { text } = await call(name, args);
    assert(text.includes(inside) && !text.includes(outside), `the files are ${brief(text)}`);
  });
  await check("down", async () => {
    const error = await session.callTool({ name: "down__anything", arguments: {} }).then(() => undefined, (e) => e);
    assert(error?.message.includes('the server "down" is not available'), `the error is ${error?.message}`);
  });
  await check("close", () => within(limit, sdk.close(), "the end of the client"));
}
