// Checks that `parley serve --http` behaves behind nginx, as a reverse proxy, as it
// does without: what is sent at once arrives at once. See ../README.md.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { freePort } from "../lib/port.mjs";
import { Report, assert, brief, equal, skip, within } from "../lib/report.mjs";
import { serveHTTP } from "../lib/serve.mjs";
import { exchange } from "./http.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const parley = process.env.PARLEY ? resolve(process.env.PARLEY) : resolve(here, "../../.tmp/parley");
const limit = 20_000;

// The name of the proxy; it is never resolved.
const host = "mcp.parley.test";
const page = "https://app.parley.test";

// How long, in seconds, nginx waits for the next byte from parley. Parley's
// keep-alive comments are 15 s apart, so a stream that lives longer than this does so
// because of them.
const patience = 20;

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" }, // a part of a row's name
  },
});

if (!existsSync(parley)) {
  console.error(`${parley} does not exist: go build -o .tmp/parley ./cmd/parley, or set PARLEY`);
  process.exit(2);
}
const [, version] = /nginx\/([\d.]+)/.exec(spawnSync("nginx", ["-v"], { encoding: "utf8" }).stderr ?? "") ?? [];
if (!version) {
  console.error("there is no nginx: apt-get install nginx");
  process.exit(2);
}

// The ways to configure nginx. Buffering stays on in all of them, as it is by
// default: parley's streams say themselves that they are not to be buffered.
const ways = [
  { name: "no proxy", direct: true },
  { name: "HTTP/1.0, the default", config: [] },
  { name: "HTTP/1.1", config: ["proxy_http_version 1.1", 'proxy_set_header Connection ""'] },
  // Shows that these checks would notice a proxy that buffers.
  { name: "made to buffer", config: ["proxy_ignore_headers X-Accel-Buffering"], buffers: true },
];

const columns = [
  "host",
  "origin",
  "stateless",
  "session",
  "sse",
  "GET",
  "listen",
  "resume",
  "cancel",
  "keep-alive",
  "parley",
  "end",
];

const report = new Report(`parley behind nginx ${version}`, columns);
const scratch = mkdtempSync(join(tmpdir(), "parley-interop-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));

const chosen = ways.filter(({ name }) => !flags.only || name.includes(flags.only));
for (const way of chosen) {
  way.row = report.row(way.name);
  way.parley = await serveHTTP(parley, ["--allow-host", host, "--allow-host", "localhost", "--allow-origin", page]);
  way.port = way.direct ? Number(new URL(way.parley.origin).port) : await freePort();
}
const nginx = await startNginx(chosen.filter((way) => !way.direct));
await Promise.all(chosen.map(runWay));
await nginx.end();

report.print();
process.exit(report.failed > 0 || report.passed === 0 ? 1 : 0);

/** startNginx runs one nginx for all configurations, without touching the system's own. */
async function startNginx(ways) {
  const servers = ways.map(
    ({ port, parley, config }) => `
  server {
    listen 127.0.0.1:${port};
    server_name ${host} localhost;
    location / {
      proxy_pass ${parley.origin};
      proxy_set_header Host $host;
      proxy_read_timeout ${patience}s;
${config.map((line) => `      ${line};`).join("\n")}
    }
  }`,
  );
  const bodies = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const file = join(scratch, "nginx.conf");
  writeFileSync(
    file,
    `daemon off;
${process.getuid() === 0 ? "# The folder of this run belongs to root.\nuser root;" : ""}
worker_processes 1;
pid ${scratch}/nginx.pid;
events {}
http {
  access_log off;
${bodies.map((name) => `  ${name}_temp_path ${scratch}/${name};`).join("\n")}
${servers.join("\n")}
}
`,
  );
  const log = join(scratch, "error.log");
  const child = spawn("nginx", ["-e", log, "-p", scratch, "-c", file], { stdio: ["ignore", "ignore", "inherit"] });
  process.once("exit", () => child.kill("SIGKILL"));
  const exited = new Promise((done) => child.once("exit", done));
  for (const { port } of ways) {
    const begun = Date.now();
    while (!(await exchange({ port, host, path: "/healthz", method: "GET" }).catch(() => undefined))) {
      assert(child.exitCode === null && Date.now() - begun < limit, `nginx did not start:\n${readFileSync(log, "utf8")}`);
      await sleep(50);
    }
  }
  return {
    log: () => readFileSync(log, "utf8").slice(-1000),
    end: async () => {
      child.kill("SIGTERM");
      await within(limit, exited, "end of nginx");
    },
  };
}

async function runWay(way) {
  const { row, port } = way;
  row.context = () => [way.parley.log().slice(-1000), nginx.log()].map((text) => text.trim()).filter(Boolean).join("\n");
  const open = [];
  const talk = async (options) => {
    const exchanged = await exchange({ port, host, ...options });
    open.push(exchanged);
    return exchanged;
  };
  const check = (column, run, most = limit) =>
    report.check(row, column, most, () => {
      // A proxy that holds everything back until the end never delivers an endless stream.
      if (way.buffers && !["host", "stateless", "session", "end"].includes(column)) skip();
      return run();
    });
  const paced = way.buffers ? allAtOnce : oneByOne;

  // Takes longer than all others together, and does not depend on them.
  const idle = check("keep-alive", () => keepAlive(talk), 3 * patience * 1000);

  await check("host", async () => {
    const welcome = await talk(stateless("server/discover"));
    equal(welcome.status, 200, "status");
    assert((await welcome.json()).result, `no result: ${welcome.body}`);
    const refused = await talk({ ...stateless("server/discover"), host: "other.parley.test" });
    equal(refused.status, 403, "status for a name that was not allowed");
  });
  await check("origin", async () => {
    for (const [origin, status] of [[page, 200], ["https://evil.test", 403]]) {
      const options = stateless("server/discover");
      const answer = await talk({ ...options, headers: { ...options.headers, Origin: origin } });
      equal(answer.status, status, `status for a page of ${origin}`);
    }
  });
  await check("stateless", async () => {
    const answer = await talk(stateless("tools/call", counting(5, 300)));
    equal(answer.status, 200, "status");
    await answer.until(() => answer.of(1)[0], "the response");
    paced(answer, 5, 300);
  });
  await check("session", async () => {
    const session = await openSession(talk);
    const answer = await talk(session.message({ id: 7, method: "tools/call", params: counting(5, 300) }));
    await answer.until(() => answer.of(7)[0], "the response");
    paced(answer, 5, 300, 7);
    const ended = await talk({ ...session.plain, method: "DELETE" });
    assert(ended.status === 200 || ended.status === 204, `status of DELETE: ${ended.status}`);
  });
  await check("sse", () => oldTransport(talk));
  await check("GET", async () => {
    const session = await openSession(talk);
    const stream = await talk({ ...session.plain, method: "GET" });
    equal(stream.status, 200, "status of GET");
    const subscribed = await talk(session.message({ id: 2, method: "resources/subscribe", params: { uri: "db://schema" } }));
    assert((await subscribed.json()).result, `not subscribed: ${subscribed.body}`);
    await promptly(stream, talk);
  });
  await check("listen", async () => {
    const notifications = { resourceSubscriptions: ["db://schema"] };
    const stream = await talk(stateless("subscriptions/listen", { notifications }));
    await stream.until(() => stream.of("notifications/subscriptions/acknowledged")[0], "the acknowledgement");
    await promptly(stream, talk);
  });
  await check("resume", () => resumed(talk));
  await check("cancel", async () => {
    const before = await cancelledCalls(talk);
    const answer = await talk(stateless("tools/call", counting(1000, 20)));
    await answer.until(() => answer.of("notifications/progress").length >= 3, "progress");
    answer.cut();
    const begun = Date.now();
    // The tool would take 20 s.
    while ((await cancelledCalls(talk)) === before) {
      assert(Date.now() - begun < 5000, "the tool went on for 5 s after the connection was cut");
      await sleep(100);
    }
  });
  await check("parley", async () => {
    const { stdout, stderr, code } = await run(["call", "--trace", `http://localhost:${port}/mcp`, "count_slowly", "steps=4", "delay_ms=100"]);
    equal(code, 0, `exit code of parley, which said ${brief(stderr)}`);
    assert(stdout.includes("4"), `no result: ${stdout}`);
    const values = [...stderr.matchAll(/"notifications\/progress".*?"progress":(\d+)/g)].map((match) => match[1]);
    equal(values.join(), "1,2,3,4", "progress that parley got");
  });
  await idle;
  for (const exchanged of open) exchanged.cut();
  await check("end", async () => {
    const { code } = await way.parley.end();
    equal(code, 0, "exit code of the server");
  });
}

/** counting is a tool call that reports progress at a steady pace. */
function counting(steps, pause) {
  return { name: "count_slowly", arguments: { steps, delay_ms: pause }, _meta: { progressToken: "counting" } };
}

/** stateless makes a request of revision 2026-07-28. */
function stateless(method, params = {}) {
  const revision = "2026-07-28";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": { name: "parley-interop", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const named = params.name ?? params.uri;
  return {
    headers: { "MCP-Protocol-Version": revision, "Mcp-Method": method, ...(named && { "Mcp-Name": named }) },
    message: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: { ...meta, ...params._meta } } },
  };
}

function handshake(revision) {
  const clientInfo = { name: "parley-interop", version: "1.0.0" };
  return { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: revision, capabilities: {}, clientInfo } };
}

/** openSession opens a session of revision 2025-11-25. */
async function openSession(talk) {
  const revision = "2025-11-25";
  const opened = await talk({ message: handshake(revision) });
  equal(opened.status, 200, "status of initialize");
  const id = opened.headers["mcp-session-id"];
  assert(id, "no session id");
  const plain = { headers: { "Mcp-Session-Id": id, "MCP-Protocol-Version": revision } };
  const session = { plain, message: (message) => ({ ...plain, message: { jsonrpc: "2.0", ...message } }) };
  const ready = await talk(session.message({ method: "notifications/initialized" }));
  equal(ready.status, 202, "status of notifications/initialized");
  return session;
}

/** oneByOne checks that progress arrived at the pace at which it was made. */
function oneByOne(answer, steps, pause, id = 1) {
  const progress = answer.of("notifications/progress").map(({ at }) => at);
  equal(progress.length, steps, "progress notifications");
  // Half of the nominal pace is far from "all at the end" and lenient to a busy machine.
  const took = progress.at(-1) - progress[0];
  const least = ((steps - 1) * pause) / 2;
  assert(took > least, `all progress came within ${took.toFixed()} ms, but it was made over ${(steps - 1) * pause} ms`);
  const waits = progress.slice(1).filter((at, i) => at - progress[i] > pause / 4).length;
  assert(waits >= (steps - 1) / 2, `progress came in lumps: ${progress.map((at) => (at - progress[0]).toFixed())} ms`);
  const [response] = answer.of(id);
  assert(response.at - progress[0] > least, "the first progress came with the response");
}

/** allAtOnce checks that progress arrived all at once, which oneByOne has to notice. */
function allAtOnce(answer, steps, pause, id = 1) {
  let noticed;
  try {
    oneByOne(answer, steps, pause, id);
  } catch (error) {
    noticed = error;
  }
  assert(noticed, "a stream that was buffered passed for one that was not");
}

/** promptly changes a resource, and checks that a stream reports it at once. */
async function promptly(stream, talk) {
  const begun = performance.now();
  promptly.tables = (promptly.tables ?? 0) + 1;
  const table = `proxied_${promptly.tables}`;
  const changed = await talk(stateless("tools/call", { name: "import_csv", arguments: { csv: "a,b\n1,2", table } }));
  await changed.ended;
  assert(!/"isError":true|"error":/.test(changed.body), `not imported: ${changed.body}`);
  // Other checks change it, too.
  const later = () => stream.of("notifications/resources/updated").find(({ at }) => at > begun);
  const told = await stream.until(later, "the notification");
  const took = told.at - begun;
  assert(took < 2000, `the notification took ${took.toFixed()} ms`);
  equal(told.message.params.uri, "db://schema", "URI of the notification");
}

/** resumed cuts the stream of a call, and gets the rest of it on another. */
async function resumed(talk) {
  const steps = 10;
  const pause = 200;
  const session = await openSession(talk);
  const cut = await talk(session.message({ id: 7, method: "tools/call", params: counting(steps, pause) }));
  await cut.until(() => cut.of("notifications/progress").length >= 3, "progress");
  cut.cut();
  await cut.ended;
  // Long enough for some events to occur without a stream.
  await sleep(2.5 * pause);
  const last = cut.events.at(-1).id;
  assert(last, "the events have no ids");
  const rest = await talk({ headers: { ...session.plain.headers, "Last-Event-ID": last }, method: "GET" });
  equal(rest.status, 200, "status of GET with Last-Event-ID");
  const response = await rest.until(() => rest.of(7)[0], "the response");
  assert(!response.message.result.isError, `the tool failed: ${rest.body}`);
  const progress = [...cut.of("notifications/progress"), ...rest.of("notifications/progress")];
  const values = progress.map(({ message }) => message.params.progress).join();
  equal(values, Array.from({ length: steps }, (_, i) => i + 1).join(), "progress, of both streams together");
  // Nor are events after the resumption held back.
  const took = response.at - rest.events[0].at;
  assert(took > pause, "all of the rest came at once");
}

/** oldTransport goes through HTTP+SSE: answers come on another connection than the requests. */
async function oldTransport(talk) {
  const stream = await talk({ path: "/sse", method: "GET", headers: { Accept: "text/event-stream" } });
  equal(stream.status, 200, "status");
  const endpoint = await stream.until(() => stream.events.find(({ event }) => event === "endpoint"), "the endpoint");
  const post = async (message) => {
    const answer = await talk({ path: endpoint.data, message: { jsonrpc: "2.0", ...message } });
    equal(answer.status, 202, "status of a message");
  };
  await post(handshake("2024-11-05"));
  await stream.until(() => stream.of(1)[0], "the response to initialize");
  await post({ method: "notifications/initialized" });
  await post({ id: 7, method: "tools/call", params: counting(5, 300) });
  await stream.until(() => stream.of(7)[0], "the response");
  oneByOne(stream, 5, 300, 7);
}

/** keepAlive leaves streams of both eras alone for longer than nginx waits for a silent server. */
async function keepAlive(talk) {
  const session = await openSession(talk);
  const notifications = { resourceSubscriptions: ["db://schema"] };
  const streams = [
    await talk({ ...session.plain, method: "GET" }),
    await talk(stateless("subscriptions/listen", { notifications })),
    await talk({ path: "/sse", method: "GET", headers: { Accept: "text/event-stream" } }),
  ];
  const subscribed = await talk(session.message({ id: 2, method: "resources/subscribe", params: { uri: "db://schema" } }));
  await subscribed.ended;
  const begun = performance.now();
  await sleep((patience + 5) * 1000);
  for (const stream of streams) {
    const late = stream.comments.filter(({ at }) => at - begun > 5000);
    assert(late.length >= 1, `no keep-alive comment within ${patience + 5} s: ${brief(stream.body)}`);
    assert(!stream.outgoing.destroyed && !stream.over, "the idle stream was ended");
  }
  // They are not only open, they still work.
  await Promise.all(streams.slice(0, 2).map((stream) => promptly(stream, talk)));
}

async function cancelledCalls(talk) {
  const answer = await talk(stateless("resources/read", { uri: "log://recent" }));
  const { result } = await answer.json();
  return result.contents[0].text.split("\n").filter((line) => /"count_slowly".*: cancelled$/.test(line)).length;
}

function run(args) {
  return new Promise((done, fail) => {
    const child = spawn(parley, args, { stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => (stdout += chunk));
    child.stderr.setEncoding("utf8").on("data", (chunk) => (stderr += chunk));
    child.once("error", fail);
    child.once("close", (code) => done({ code, stdout, stderr }));
  });
}
