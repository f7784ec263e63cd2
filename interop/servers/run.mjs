// Runs the command line program `parley` against official MCP servers over
// stdio. See ../README.md.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { Report, assert, brief, equal } from "../lib/report.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const parley = process.env.PARLEY ? resolve(process.env.PARLEY) : resolve(here, "../../.tmp/parley");
const limit = 30_000;

// What the exit codes of parley mean.
const exit = { ok: 0, toolError: 1, usage: 2, connection: 3 };

// All these servers are built on the same SDK, whose newest revision this is.
const revision = "2025-11-25";

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" }, // a server
    trace: { type: "boolean", default: false }, // all runs of parley to standard error
  },
});

if (!existsSync(parley)) {
  console.error(`${parley} does not exist: go build -o .tmp/parley ./cmd/parley, or set PARLEY`);
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), "parley-interop-"));
const allowed = mkdtempSync(join(scratch, "allowed-"));

const servers = [
  {
    name: "everything",
    command: ["node", script("everything"), "stdio"],
    // Sampling is declared only when there is something to answer it with.
    listFlags: ["--sampler", "node sampler.mjs", "--yes-sample"],
    tools: [
      "echo",
      "get-sum",
      "get-structured-content",
      "get-tiny-image",
      // These two are offered only to clients that declare the capability, and only
      // when they ask for the list after notifications/initialized.
      "trigger-elicitation-request",
      "trigger-sampling-request",
    ],
    resources: ["demo://resource/static/document/features.md"],
    templates: ["demo://resource/dynamic/text/{resourceId}"],
    prompts: ["simple-prompt", "args-prompt", "completable-prompt", "resource-prompt"],
    checks: {
      call: async (run) => {
        const { output } = await run("call", ["echo", "message=2 + 2"]);
        contains(output, "Echo: 2 + 2");
      },
      json: async (run) => {
        const { output } = await run("call", ["get-sum", "a:=2", "b:=3.5"]);
        contains(output, "The sum of 2 and 3.5 is 5.5.");
      },
      structured: async (run) => {
        const { value } = await run("call", ["get-structured-content", "location=Chicago"], { json: true });
        const [content] = find(value, (node) => "temperature" in node && "humidity" in node);
        assert(content, `no structured content in ${brief(value)}`);
        equal(typeof content.temperature, "number", "type of the temperature");
      },
      content: async (run) => {
        const kinds = [
          ["image", ["get-tiny-image"]],
          ["resource_link", ["get-resource-links", "count:=2"]],
          ["resource", ["get-resource-reference", "resourceType=Text", "resourceId:=1"]],
          ["image", ["get-annotated-message", "messageType=success", "includeImage:=true"]],
        ];
        for (const [type, call] of kinds) {
          const { value } = await run("call", call, { json: true });
          assert(find(value, (node) => node.type === type).length > 0, `no ${type} in ${brief(value)}`);
          // The readable form has to cope with content that is not text, too.
          await run("call", call);
        }
      },
      progress: async (run) => {
        const call = ["trigger-long-running-operation", "duration:=1", "steps:=4"];
        const { output } = await run("call", call);
        contains(output, "Long running operation completed");
      },
      "wrong args": async (run) => {
        const { output } = await run("call", ["get-sum", "a=two"], { exit: exit.toolError });
        contains(output, "number");
      },
      refused: async (run) => {
        const call = ["gzip-file-as-resource", "name=x.gz", "data=data:text/plain,hello", "outputType=neither"];
        const { output } = await run("call", call, { exit: exit.toolError });
        contains(output, "outputType");
      },
      elicit: async (run) => {
        const answers = ["name=Ada Lovelace", "check=true", "integer=7", "email=ada@example.com"];
        const flags = answers.flatMap((answer) => ["--answer", answer]);
        const { output } = await run("call", [...flags, "trigger-elicitation-request"]);
        contains(output, "User provided the requested information");
        contains(output, "Name: Ada Lovelace");
        contains(output, "Agreed to terms: true");
        contains(output, "Favorite Integer: 7");
        contains(output, "Email: ada@example.com");
      },
      unanswered: async (run) => {
        // Nobody is there to answer. How the call ends is parley's choice; it must
        // end, and it must not pretend to be a user who agreed.
        const ends = [exit.ok, exit.toolError, exit.connection];
        const { output } = await run("call", ["trigger-elicitation-request"], { exit: ends });
        assert(!output.includes("provided the requested information"), `an answer was made up: ${output}`);
      },
      sample: async (run) => {
        const call = ["--sampler", "node sampler.mjs", "--yes-sample", "trigger-sampling-request", "prompt=Why is the sky blue?"];
        const { output } = await run("call", call);
        contains(output, "You asked: Resource trigger-sampling-request context: Why is the sky blue?");
      },
    },
  },
  {
    name: "filesystem",
    command: ["node", script("filesystem"), allowed],
    tools: ["read_text_file", "write_file", "edit_file", "list_directory", "get_file_info"],
    checks: {
      call: async (run) => {
        const file = join(allowed, "greeting.txt");
        await run("call", ["write_file", `path=${file}`, "content=grüß dich = hello\n"]);
        equal(readFileSync(file, "utf8"), "grüß dich = hello\n", "content of the written file");
        const { output } = await run("call", ["read_text_file", `path=${file}`]);
        contains(output, "grüß dich = hello");
      },
      json: async (run) => {
        const file = join(allowed, "edited.txt");
        writeFileSync(file, "one\ntwo\n");
        const edits = JSON.stringify([{ oldText: "two", newText: "three" }]);
        await run("call", ["edit_file", `path=${file}`, `edits:=${edits}`]);
        equal(readFileSync(file, "utf8"), "one\nthree\n", "content of the edited file");
      },
      structured: async (run) => {
        const { value } = await run("call", ["list_allowed_directories"], { json: true });
        // A server that was given roots would have replaced its directories by them.
        const [content] = find(value, (node) => typeof node.content === "string");
        assert(content?.content.includes(allowed), `${allowed} is missing in ${brief(value)}`);
      },
      "wrong args": async (run) => {
        const { output } = await run("call", ["read_text_file"], { exit: exit.toolError });
        contains(output, "path");
      },
      refused: async (run) => {
        const outside = join(scratch, "outside.txt");
        writeFileSync(outside, "secret\n");
        const { output } = await run("call", ["read_text_file", `path=${outside}`], { exit: exit.toolError });
        contains(output, "outside allowed directories");
        assert(!output.includes("secret"), "the refused file was printed");
      },
    },
  },
  {
    name: "memory",
    // Through env, so that the check does not depend on which variables parley
    // passes on to a server.
    command: ["env", `MEMORY_FILE_PATH=${join(scratch, "memory.jsonl")}`, "node", script("memory")],
    tools: ["create_entities", "add_observations", "read_graph", "search_nodes"],
    resources: ["memory://knowledge-graph"],
    checks: {
      call: async (run) => {
        const { output } = await run("call", ["search_nodes", "query=nobody"]);
        contains(output, "entities");
      },
      json: async (run) => {
        const ada = { name: "Ada", entityType: "person", observations: ["wrote the first program"] };
        await run("call", ["create_entities", `entities:=${JSON.stringify([ada])}`]);
        // A second process reads what the first one stored.
        const { output } = await run("call", ["search_nodes", "query=Ada"]);
        contains(output, "wrote the first program");
      },
      structured: async (run) => {
        const { value } = await run("call", ["read_graph"], { json: true });
        const [graph] = find(value, (node) => Array.isArray(node.entities) && Array.isArray(node.relations));
        assert(graph, `no structured graph in ${brief(value)}`);
      },
      "wrong args": async (run) => {
        const { output } = await run("call", ["create_entities", "entities=Ada"], { exit: exit.toolError });
        contains(output, "entities");
        contains(output, "array");
      },
      refused: async (run) => {
        const call = ["add_observations", `observations:=${JSON.stringify([{ entityName: "Nobody", contents: ["x"] }])}`];
        const { output } = await run("call", call, { exit: exit.toolError });
        contains(output, "Nobody not found");
      },
    },
  },
];

const columns = [
  "info",
  "list",
  "list json",
  "call",
  "json",
  "structured",
  "content",
  "progress",
  "wrong args",
  "refused",
  "unknown tool",
  "elicit",
  "unanswered",
  "sample",
  "no orphan",
];

const report = new Report("parley against server", columns);

try {
  const running = servers
    .filter((server) => !flags.only || server.name === flags.only)
    .map((server) => {
      const { version } = JSON.parse(readFileSync(join(here, packageOf(server.name), "package.json"), "utf8"));
      return runServer(server, report.row(`${server.name} ${version}`));
    });
  if (!flags.only) running.push(runFailures());
  await Promise.all(running);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

report.print();
process.exit(report.failed > 0 || report.passed === 0 ? 1 : 0);

async function runServer(server, row) {
  const runs = recorder(row, server.command);
  const check = async (column, run) => {
    runs.reset();
    await report.check(row, column, limit * 4, () => run(runs.parley));
  };
  const everything = [
    ...server.tools,
    ...(server.resources ?? []),
    ...(server.templates ?? []),
    ...(server.prompts ?? []),
  ];

  await check("info", async (run) => {
    const { value } = await run("info", [], { json: true });
    const text = JSON.stringify(value);
    contains(text, revision);
    assert(find(value, (node) => typeof node.name === "string").length > 0, `no server name in ${text}`);
    const { output } = await run("info");
    contains(output, revision);
  });
  await check("list", async (run) => {
    const { output } = await run("list", server.listFlags);
    for (const name of everything) contains(output, name);
  });
  await check("list json", async (run) => {
    const { value } = await run("list", server.listFlags ?? [], { json: true });
    const named = (key) => find(value, (node) => typeof node[key] === "string").map((node) => node[key]);
    const names = named("name");
    for (const name of [...server.tools, ...(server.prompts ?? [])]) {
      assert(names.includes(name), `${name} is not among ${brief(names)}`);
    }
    for (const uri of server.resources ?? []) assert(named("uri").includes(uri), `${uri} is not listed`);
    for (const template of server.templates ?? []) {
      assert(named("uriTemplate").includes(template), `${template} is not listed`);
    }
  });
  for (const column of columns) {
    if (server.checks[column]) await check(column, server.checks[column]);
    else if (["content", "progress", "elicit", "unanswered", "sample"].includes(column)) row.cells[column] = "–";
  }
  await check("unknown tool", async (run) => {
    // These servers answer with a failed result, not with a JSON-RPC error.
    const { output } = await run("call", ["no_such_tool"], { exit: exit.toolError });
    contains(output, "no_such_tool");
  });
  await check("no orphan", async () => {
    // These servers end with their input. This shell turns them into one that
    // does not: it keeps running until it gets a signal.
    const pidFile = join(scratch, `${server.name}.pid`);
    const quoted = server.command.map((word) => `'${word}'`).join(" ");
    const command = ["sh", "-c", `echo $$ > '${pidFile}'; ${quoted}; exec sleep 25`];
    const { stdout } = await recorder(row, command).parley("list");
    contains(stdout, server.tools[0]);
    const pid = Number(readFileSync(pidFile, "utf8"));
    for (let waited = 0; alive(pid) && waited < 10_000; waited += 50) await sleep(50);
    if (alive(pid)) {
      process.kill(pid, "SIGKILL");
      throw new Error(`the server was still running as process ${pid} ten seconds after parley ended`);
    }
  });
}

/** runFailures checks parley's exit codes when there is no usable server. */
async function runFailures() {
  const row = report.row("no server");
  const cases = {
    info: [["parley-interop-no-such-program"], exit.connection],
    list: [["node", "-e", "process.exit(1)"], exit.connection],
    "list json": [["node", "-e", "console.log('not a server')"], exit.connection],
    call: [[], exit.usage],
  };
  for (const column of columns) row.cells[column] = "–";
  for (const [column, [command, code]] of Object.entries(cases)) {
    const runs = recorder(row, command);
    await report.check(row, column, limit, async () => {
      const options = { exit: code, json: column === "list json" };
      const words = column === "call" ? ["echo", "message=x"] : [];
      const { stderr } = await runs.parley(column.split(" ")[0], words, options);
      assert(stderr.trim(), "the failure is not explained on standard error");
    });
  }
}

/** recorder runs parley against one server command and keeps the runs for failure texts. */
function recorder(row, command) {
  let runs = [];
  row.context = () => runs.map(({ line, text }) => `$ ${line}\n${text}`).join("\n");
  return {
    reset: () => {
      runs = [];
    },
    parley: async (verb, words = [], options = {}) => {
      const args = [verb, ...(options.json ? ["--output", "json"] : []), ...words];
      if (command.length > 0) args.push("--", ...command);
      const line = ["parley", ...args].join(" ");
      const run = { line, text: "(did not end)" };
      // Only the last run is the one that failed.
      runs = [run];
      const { code, signal, stdout, stderr } = await execute(args);
      run.text = brief([`exit ${code ?? signal}`, stdout, stderr].filter(Boolean).join("\n").trim(), 1500);
      if (flags.trace) console.error(`$ ${line}\n${run.text}\n`);
      const wanted = [options.exit ?? exit.ok].flat();
      assert(wanted.includes(code), `exit code: expected ${wanted.join(" or ")}, got ${code ?? signal}`);
      const value = options.json && code === exit.ok ? JSON.parse(stdout) : undefined;
      return { value, stdout, stderr, output: `${stdout}\n${stderr}` };
    },
  };
}

function execute(args) {
  return new Promise((done, fail) => {
    // Relative paths of the servers and of the sampler are relative to this folder;
    // standard input is not a terminal and at its end.
    const child = spawn(parley, args, { cwd: here, stdio: ["ignore", "pipe", "pipe"] });
    const timer = setTimeout(() => child.kill("SIGKILL"), limit);
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => (stdout += chunk));
    child.stderr.setEncoding("utf8").on("data", (chunk) => (stderr += chunk));
    child.on("error", fail);
    const end = (code, signal) => {
      clearTimeout(timer);
      done({ code, signal, stdout, stderr });
    };
    child.on("close", end);
    // A server that outlives parley keeps its standard error open, and so delays "close".
    child.on("exit", (code, signal) => setTimeout(end, 2000, code, signal).unref());
  });
}

function packageOf(name) {
  return `node_modules/@modelcontextprotocol/server-${name}`;
}

function script(name) {
  return `${packageOf(name)}/dist/index.js`;
}

/** find returns all objects in a JSON value that match, so that checks do not depend on its outer shape. */
function find(value, matches) {
  if (value === null || typeof value !== "object") return [];
  const children = Object.values(value).flatMap((child) => find(child, matches));
  return !Array.isArray(value) && matches(value) ? [value, ...children] : children;
}

function contains(text, part) {
  assert(text.includes(part), `${brief(part)} is missing in the output`);
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
