// Runs official TypeScript SDK clients of five protocol revisions against
// `parley serve --stdio`, and all of them at the same time against one process of
// `parley serve --http`. See ../README.md.

import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { Report, assert, brief, equal, readable, skip, within } from "../lib/report.mjs";
import { bridgeHTTP, serveHTTP } from "../lib/serve.mjs";
import { clients, packageOf } from "./clients.mjs";
import { server } from "../lib/reference.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const parley = process.env.PARLEY ? resolve(process.env.PARLEY) : resolve(root, ".tmp/parley");
const limit = 15_000;

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" }, // a part of a row's name: a revision, a transport, a label
    // Everything goes through `parley bridge`, which speaks this revision to the server.
    bridge: { type: "string" },
    trace: { type: "boolean", default: false }, // all messages to standard error
  },
});

if (!existsSync(parley)) {
  console.error(`${parley} does not exist: go build -o .tmp/parley ./cmd/parley, or set PARLEY`);
  process.exit(2);
}

const columns = [
  "version",
  "tools",
  "resources",
  "templates",
  "prompts",
  "call",
  "wrong args",
  "unknown tool",
  "read",
  "prompt",
  "complete",
  "progress",
  "cancel",
  "elicit",
  "sample",
  "quiet",
  "end",
];

const report = new Report(flags.bridge ? `through the bridge, ${flags.bridge} behind it` : "TypeScript client", columns);

const served = flags.bridge ? await bridgeHTTP(parley, flags.bridge) : await serveHTTP(parley);
const behind = flags.bridge && (await serveHTTP(parley)); // the bridges on stdio
const running = [];
// Behind a bridge, clients without a session share a connection. If two of them call at a
// time, a server with a session does not say which one it asks: so they take turns.
let sharing = Promise.resolve();
for (const client of clients) {
  const { name, version } = packageOf(client);
  const short = name.replace("@modelcontextprotocol/", "");
  for (const transport of ["stdio", client.remote ?? "http"]) {
    const label = [client.revision, transport.padEnd(5), short, version, client.label].filter(Boolean).join(" ");
    if (flags.only && !label.includes(flags.only)) continue;
    const row = report.row(label);
    if (flags.bridge && transport === "http" && client.revision === "2026-07-28") {
      sharing = sharing.then(() => runClient(client, transport, row));
      running.push(sharing);
    } else {
      running.push(runClient(client, transport, row));
    }
  }
}
await Promise.all(running);
await runServer(report.row("the process behind all of http and sse"));
if (behind) await behind.end();

report.print();
// A server that does not exit must not keep the suite running after the verdict.
process.exit(report.failed > 0 || report.passed === 0 ? 1 : 0);

/** runServer checks the log and the end of the one HTTP server, after all of its clients. */
async function runServer(row) {
  for (const column of columns) row.cells[column] = "–";
  row.context = () => `its log ended with:\n${served.log().slice(-1000).trim()}`;
  await report.check(row, "end", 2 * limit, async () => {
    const { code, signal } = await served.end();
    equal(signal, null, "signal that ended the server");
    equal(code, 0, "exit code of the server");
  });
  await report.check(row, "quiet", limit, async () => {
    const serious = served
      .log()
      .split("\n")
      .filter((line) => /level=ERROR|panic|status=5\d\d/.test(line));
    assert(serious.length === 0, `the server complained: ${brief(serious.join("\n"), 2000)}`);
  });
}

/** stdio is the command of a server on standard input and output. */
function stdio() {
  return behind ? ["bridge", "--revision", flags.bridge, `${behind.origin}/mcp`] : server.stdio;
}

async function runClient(client, way, row) {
  const modern = client.revision === "2026-07-28";
  const place = way === "stdio" ? { command: parley, args: stdio() } : { origin: served.origin };
  const asked = { elicitation: [], sampling: [] };
  const session = await client.open(client, place, {
    elicitation: async (request) => {
      asked.elicitation.push(request.params);
      return { action: "accept", content: answerForm(request.params.requestedSchema) };
    },
    sampling: async (request) => {
      asked.sampling.push(request.params);
      return {
        role: "assistant",
        model: "parley-interop-model",
        stopReason: "endTurn",
        content: { type: "text", text: server.sampling.answer },
      };
    },
  });
  const { sdk, wire, transport } = session;

  // What a client's own validation objects to without failing a call: lines
  // that are not JSON-RPC, unknown ids, notifications with a wrong shape.
  const complaints = [];
  sdk.onerror = (error) => complaints.push(error.message);

  let stderr = "";
  const listen = () =>
    transport.stderr?.on("data", (chunk) => {
      stderr = (stderr + chunk).slice(-2000);
    });
  const early = transport.stderr !== null && transport.stderr !== undefined;
  if (early) listen();
  row.context = () =>
    [
      complaints.length > 0 && `the client complained:\n${complaints.slice(-3).map((text) => brief(readable(text))).join("\n")}`,
      stderr && `the server's standard error ended with:\n${stderr.trim()}`,
    ]
      .filter(Boolean)
      .join("\n");

  const check = (column, run) => report.check(row, column, limit, run);

  const connected = await check("version", async () => {
    await session.connect();
    if (!early) listen();
    equal(session.revision(), client.revision, "negotiated protocol revision");
    const handshakes = wire.sent("initialize").length;
    equal(handshakes, modern ? 0 : 1, "initialize requests of this client");
    assert(sdk.getServerCapabilities(), "the client holds no server capabilities");
    assert(sdk.getServerVersion()?.name, "the client holds no server name");
    if (way === "http") equal(Boolean(transport.sessionId), !modern, "a session id");
  });
  if (!connected) {
    // One clear failure says more than sixteen that follow from it.
    await within(5000, sdk.close(), "close").catch(() => {});
    if (flags.trace) trace(row, wire);
    return;
  }

  await check("tools", async () => {
    const { tools } = await session.list.tools();
    const names = tools.map((tool) => tool.name);
    for (const tool of [server.calculate, server.progress, server.slow, server.checkout, server.sampling]) {
      assert(names.includes(tool.name), `no tool ${tool.name} among ${names.join(", ")}`);
    }
    const calculate = tools.find((tool) => tool.name === server.calculate.name);
    equal(calculate.inputSchema.type, "object", "type of the input schema");
  });
  await check("resources", async () => {
    const { resources } = await session.list.resources();
    const uris = resources.map((resource) => resource.uri);
    assert(uris.includes(server.resource.uri), `no resource ${server.resource.uri} among ${brief(uris)}`);
  });
  await check("templates", async () => {
    const { resourceTemplates } = await session.list.resourceTemplates();
    assert(resourceTemplates.length > 0, "no resource template listed");
    for (const template of resourceTemplates) {
      assert(template.uriTemplate.includes("{"), `no expression in URI template ${template.uriTemplate}`);
    }
  });
  await check("prompts", async () => {
    const { prompts } = await session.list.prompts();
    const prompt = prompts.find((candidate) => candidate.name === server.prompt.name);
    assert(prompt, `no prompt ${server.prompt.name} among ${brief(prompts.map((p) => p.name))}`);
    const names = (prompt.arguments ?? []).map((argument) => argument.name);
    for (const argument of Object.keys(server.prompt.arguments)) {
      assert(names.includes(argument), `prompt ${prompt.name} does not list its argument ${argument}`);
    }
  });
  await check("call", async () => {
    const result = await session.callTool({
      name: server.calculate.name,
      arguments: server.calculate.arguments,
    });
    assert(!result.isError, `the tool failed: ${textOf(result)}`);
    equal(textOf(result), server.calculate.text, "text of the result");
  });
  await check("wrong args", async () => {
    const result = await session.callTool({
      name: server.calculate.name,
      arguments: server.calculate.wrongArguments,
    });
    equal(result.isError, true, `isError of ${brief(result)}`);
    assert(
      textOf(result).includes(server.calculate.missing),
      `the text does not name the missing argument: ${brief(textOf(result))}`,
    );
  });
  await check("unknown tool", async () => {
    const outcome = await settle(session.callTool({ name: server.unknownTool, arguments: {} }));
    assert(outcome.error, `answered with a result instead of an error: ${brief(outcome.value)}`);
    equal(outcome.error.code, -32602, `code of "${outcome.error.message}"`);
  });
  await check("read", async () => {
    const { contents } = await sdk.readResource({ uri: server.resource.uri });
    equal(contents[0]?.uri, server.resource.uri, "URI of the contents");
    const value = JSON.parse(contents[0].text);
    assert(value !== null && typeof value === "object", `not a JSON object: ${contents[0].text}`);
  });
  await check("prompt", async () => {
    const { messages } = await sdk.getPrompt({
      name: server.prompt.name,
      arguments: server.prompt.arguments,
    });
    const text = messages.map((message) => message.content.text ?? "").join("\n");
    for (const part of server.prompt.contains) {
      assert(text.includes(part), `${brief(part)} is missing in ${brief(text)}`);
    }
  });
  await check("complete", async () => {
    const { completion } = await sdk.complete({
      ref: { type: "ref/prompt", name: server.prompt.name },
      argument: { name: server.completion.argument, value: server.completion.prefix },
    });
    assert(
      completion.values.includes(server.completion.includes),
      `${server.completion.includes} is not among ${brief(completion.values)}`,
    );
  });
  await check("progress", async () => {
    const { distinct, ...importing } = server.progress;
    const name = `${importing.arguments[distinct]}_${report.rows.indexOf(row)}`;
    const imported = await withProgress(session, {
      ...importing,
      arguments: { ...importing.arguments, [distinct]: name },
    });
    const { sent, delivered } = imported;
    if (delivered.length < sent.length) {
      // All versions handle a notification one microtask later than a response, so
      // those that share a read with the response find their handler gone. Only the
      // end may be missing for this reason.
      const lost = sent.length - delivered.length;
      report.note(`${row.name}: the client itself dropped ${lost} of ${sent.length} progress notifications`);
      assert(
        delivered.every((value, i) => value === sent[i]),
        `onprogress got ${brief(delivered)} of ${brief(sent)}`,
      );
    }
    const paced = await withProgress(session, server.paced);
    assert(
      paced.delivered.length >= 2,
      `${paced.sent.length} notifications were sent, but ${paced.delivered.length} reached onprogress`,
    );
  });
  const cancel = async () => {
    const before = await cancelledCalls(sdk);
    const controller = new AbortController();
    let cancelledAt;
    const outcome = await settle(
      session.callTool(
        { name: server.slow.name, arguments: server.slow.arguments },
        {
          signal: controller.signal,
          onprogress: () => {
            cancelledAt ??= Date.now();
            controller.abort("enough");
          },
        },
      ),
    );
    assert(cancelledAt, `the call ended before any progress: ${brief(outcome.value ?? outcome.error?.message)}`);
    assert(outcome.error !== undefined, `the cancelled call returned ${brief(outcome.value)}`);
    const took = Date.now() - cancelledAt;
    assert(took < 5000, `the call rejected only ${took} ms after the cancellation`); // it would take 20 s

    await session.alive();

    const call = wire.sent("tools/call").at(-1);
    // Over HTTP, this revision cancels by closing the stream of the request.
    const closes = modern && way === "http";
    const cancelled = wire.sent("notifications/cancelled").at(-1);
    equal(cancelled?.params.requestId, closes ? undefined : call.id, "request named by notifications/cancelled");
    // Silence proves nothing when nobody listens; the server's log does. What was in
    // flight when the notification arrived may still come in; after that the tool has to
    // be silent, and at its pace a moment suffices to see that.
    const added = await newlyCancelled(sdk, before);
    equal(added.length, 1, `calls that the server's log has as cancelled: ${brief(added)}`);
    const earlier = progressOf(wire, server.slow.name).values.length;
    await sleep(400);
    const later = progressOf(wire, server.slow.name).values.length;
    assert(later === earlier, `the tool went on: ${later - earlier} progress notifications after it was cancelled`);
    equal(wire.responseTo(call.id), undefined, "answer to the cancelled request");
    await session.list.tools();
  };
  // The log of one server is about all of its clients, so they take turns.
  if (way === "stdio" && !behind) await check("cancel", cancel);
  else await inTurn(() => check("cancel", cancel));
  await check("elicit", async () => {
    asked.elicitation.length = 0;
    const outcome = await settle(
      session.callTool({ name: server.checkout.name, arguments: server.checkout.arguments }),
    );
    if (!client.elicitation) {
      // A client that declared no elicitation must not be asked, however the tool
      // then ends.
      equal(wire.received("elicitation/create").length, 0, "questions to a client without elicitation");
      await session.alive();
      return;
    }
    if (outcome.error) throw outcome.error;
    equal(asked.elicitation.length, server.checkout.questions, "questions asked");
    assert(!outcome.value.isError, `the tool failed: ${textOf(outcome.value)}`);
    assert(textOf(outcome.value), "the tool answered without text");
    const wanted = modern ? 0 : server.checkout.questions;
    equal(wire.received("elicitation/create").length, wanted, "elicitation requests of the server");
  });
  await check("sample", async () => {
    asked.sampling.length = 0;
    const result = await session.callTool({
      name: server.sampling.name,
      arguments: server.sampling.arguments,
    });
    assert(asked.sampling.length > 0, `the server did not ask the client's model: ${brief(result)}`);
    assert(
      brief(asked.sampling, 1e6).includes(server.sampling.prompt),
      `the entry is missing in the prompt ${brief(asked.sampling)}`,
    );
    assert(!result.isError, `the tool failed: ${textOf(result)}`);
    assert(textOf(result).includes(server.sampling.answer), `the model's answer is missing in ${textOf(result)}`);
  });
  await check("quiet", async () => {
    // Late progress is a race in the client, see above; nothing else is excused.
    const serious = complaints.filter((text) => !/progress notification for an unknown token/.test(text));
    assert(serious.length === 0, `the client complained: ${brief(serious.join("\n"), 2000)}`);
  });
  await check("end", async () => {
    if (way === "stdio") await endOfProcess(transport);
    else await endOfSession(transport);
  });
  await within(5000, sdk.close(), "close").catch(() => {});
  if (flags.trace) trace(row, wire);
}

async function endOfProcess(transport) {
  // Not all versions expose the child process; all keep it in this field.
  const child = transport._process;
  if (!child?.once) skip("no access to the server process");
  const exited = new Promise((done) => child.once("exit", (code, signal) => done({ code, signal })));
  if (child.exitCode !== null) throw new Error(`the server had already ended with ${child.exitCode}`);
  // Old versions send SIGTERM at once; closing standard input first holds all
  // of them to the same rule: the end of input ends the server.
  child.stdin.end();
  const { code, signal } = await within(limit / 2, exited, "exit at the end of standard input");
  equal(signal, null, "signal that ended the server");
  equal(code, 0, "exit code of the server");
}

async function endOfSession(transport) {
  const id = transport.sessionId;
  if (!id) skip("there is no session to end, or its end is that of the connection");
  await transport.terminateSession();
  equal(transport.sessionId, undefined, "session id after its end");
  // The client also takes a 405 for success: the server shows whether the session ended.
  const response = await fetch(new URL("/mcp", served.origin), {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "Mcp-Session-Id": id,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  await response.text();
  equal(response.status, 404, "status of a request to the session that has ended");
}

/** inTurn runs one function after the other. */
function inTurn(run) {
  const turn = (inTurn.last ?? Promise.resolve()).then(run);
  inTurn.last = turn.catch(() => {});
  return turn;
}

/** cancelledCalls returns the lines of the server's log about calls that were cancelled. */
async function cancelledCalls(sdk) {
  const { contents } = await sdk.readResource({ uri: server.log.uri });
  const cancelled = new RegExp(server.log.cancelled);
  return new Set(contents[0].text.split("\n").filter((line) => cancelled.test(line)));
}

/** newlyCancelled waits until the log has calls that it did not have before, and returns their lines. */
async function newlyCancelled(sdk, before) {
  for (const end = Date.now() + limit / 2; ; await sleep(20)) {
    const added = [...(await cancelledCalls(sdk))].filter((line) => !before.has(line));
    if (added.length > 0 || Date.now() > end) return added;
  }
}

function textOf(result) {
  return (result.content ?? [])
    .filter((block) => block.type === "text")
    .map((block) => block.text)
    .join("\n");
}

async function settle(promise) {
  try {
    return { value: await promise };
  } catch (error) {
    // A client may reject with the bare reason given to abort().
    return { error: error ?? new Error("rejected without a reason") };
  }
}

/** progressOf returns the last call of a tool's token and all progress the server sent for it. */
function progressOf(wire, tool) {
  const call = wire.sent("tools/call").filter((request) => request.params.name === tool).at(-1);
  const token = call?.params._meta?.progressToken;
  const values = wire
    .received("notifications/progress")
    .filter((notification) => notification.params.progressToken === token)
    .map((notification) => notification.params.progress);
  return { token, values };
}

/** withProgress calls a tool, and compares what the server sent with what onprogress got. */
async function withProgress(session, tool) {
  const delivered = [];
  const result = await session.callTool(
    { name: tool.name, arguments: tool.arguments },
    { onprogress: (progress) => delivered.push(progress.progress) },
  );
  assert(!result.isError, `${tool.name} failed: ${textOf(result)}`);
  const { token, values: sent } = progressOf(session.wire, tool.name);
  assert(token !== undefined, "the client sent no progress token");
  // A bridge that is told of progress faster than it passes it on leaves out what is outdated.
  assert(sent.length >= (flags.bridge ? 1 : 2), `${tool.name}: ${sent.length} progress notifications carry the token ${token}`);
  assert(increasing(sent), `${tool.name}: progress does not increase strictly: ${brief(sent)}`);
  return { sent, delivered };
}

function increasing(values) {
  return values.every((value, i) => i === 0 || value > values[i - 1]);
}

/** answerForm fills a form the way a willing user would, so that it survives changes to the questions. */
function answerForm(schema) {
  const content = {};
  for (const [name, property] of Object.entries(schema?.properties ?? {})) {
    content[name] = name in server.checkout.answers ? server.checkout.answers[name] : answerField(property);
  }
  return content;
}

function answerField(property) {
  if (property.enum) return property.enum[0];
  if (property.oneOf) return property.oneOf[0].const;
  switch (property.type) {
    case "boolean":
      return true;
    case "integer":
    case "number":
      return Math.max(1, property.minimum ?? 1);
    case "array":
      return [property.items?.enum?.[0] ?? property.items?.anyOf?.[0]?.const ?? "one"];
    default:
      switch (property.format) {
        case "email":
          return "ada@example.com";
        case "uri":
          return "https://example.com/";
        case "date":
          return "2026-07-28";
        case "date-time":
          return "2026-07-28T12:00:00Z";
        default:
          return "Ada Lovelace".padEnd(property.minLength ?? 0, ".").slice(0, property.maxLength);
      }
  }
}

function trace(row, wire) {
  for (const { sent, message } of wire.messages) {
    console.error(`${row.name}  ${sent ? "→" : "←"} ${brief(message, 1500)}`);
  }
}
