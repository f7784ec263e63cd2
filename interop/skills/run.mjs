// Has fastmcp and rmcp read the skills of `parley serve`, and `parley` those of their
// servers. See ../README.md.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { freePort } from "../lib/port.mjs";
import { start } from "../lib/process.mjs";
import { Report, assert, brief, equal, skip } from "../lib/report.mjs";
import { serveHTTP } from "../lib/serve.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const parley = process.env.PARLEY ? resolve(process.env.PARLEY) : resolve(here, "../../.tmp/parley");
const version = "4.1.2";
const python = join(here, "../python/.venv", `fastmcp-${version}`, "bin/python");
const rust = resolve(here, "../../.tmp/interop-rust/debug/peer");
const limit = 60_000; // Python is slow to start

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" }, // a part of a row's name: a role, a transport
    trace: { type: "boolean", default: false }, // what the processes write, to standard error
  },
});

for (const [file, how] of [
  [parley, "go build -o .tmp/parley ./cmd/parley, or set PARLEY"],
  [python, "run ../run.sh once"],
]) {
  if (!existsSync(file)) {
    console.error(`${file} does not exist: ${how}`);
    process.exit(2);
  }
}

const scratch = mkdtempSync(join(tmpdir(), "parley-skills-"));
const started = new Set();
process.once("exit", () => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true });
});

// The skills, by their paths: one with a file of bytes and a name that has to be encoded,
// and one in it.
const page = (name, more = "") => Buffer.from(`---\nname: ${name}\ndescription: "About ${name}: ä."\n${more}---\n\n# ${name}\n`);
const files = {
  "refunds/SKILL.md": page("refunds", 'license: Apache-2.0\nmetadata:\n  version: "1.0"\nallowed-tools: Bash(git:*) Read\n'),
  "refunds/scripts/run.sh": Buffer.from("#!/bin/sh\n"),
  "refunds/scripts/deep/SKILL.md": page("deep"),
  "refunds/logo ä.png": Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00]),
  "git/SKILL.md": page("git"),
};
const folder = join(scratch, "skills");
for (const [path, data] of Object.entries(files)) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), data);
}
const uriOf = (path) => "skill://" + path.split("/").map(encodeURIComponent).join("/");
const skills = ["git", "refunds", "refunds/scripts/deep"];
const filesOf = (skill) => Object.keys(files).filter((path) => path.startsWith(skill + "/"));
const refunds = {
  name: "refunds",
  description: "About refunds: ä.",
  license: "Apache-2.0",
  metadata: { version: "1.0" },
  "allowed-tools": "Bash(git:*) Read",
};

const columns = ["connect", "list", "get", "read", "folder", "unknown", "pull", "changed"];
const report = new Report("Skills", columns);
const peers = [
  { name: `fastmcp ${version}`, client: [python, join(here, "client.py")], server: fastmcp },
  { name: "rmcp 3.11.0", client: [rust, "skills", "client"], server: rmcp, folders: true },
];
for (const peer of peers) {
  if (!existsSync(peer.client[0])) {
    report.note(`not run: ${peer.name}, because it is not built`);
    continue;
  }
  for (const role of ["client", "server"]) {
    for (const way of ["stdio", "http"]) {
      const name = `${peer.name.padEnd(13)} ${role} ${way}`;
      if (!flags.only || name.includes(flags.only)) await (role === "client" ? asHost : asServer)(peer, way, report.row(name));
    }
  }
}
report.print();
process.exit(report.failed > 0 || report.passed === 0 ? 1 : 0);

/** run runs a command to its end. */
async function run(command, args) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  started.add(child);
  let stdout = "", stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
    if (flags.trace) process.stderr.write(text);
  });
  const code = await new Promise((done) => child.once("close", done));
  started.delete(child);
  return { code, stdout, stderr };
}

/** sameFile compares what arrived with the file. */
function sameFile(data, path) {
  assert(data.equals(files[path]), `${path}: got ${brief(data.toString())}`);
}

/** asHost has a peer read the skills of `parley serve`. */
async function asHost(peer, way, row) {
  const served = way === "http" ? await serveHTTP(parley, ["--skills", folder]) : undefined;
  const target = served ? [`${served.origin}/mcp`] : [parley, "serve", "--stdio", "--skills", folder];
  let found;
  await report.check(row, "connect", limit, async () => {
    const ended = await run(peer.client[0], [...peer.client.slice(1), ...target]);
    equal(ended.code, 0, `exit code of the client: ${ended.stderr.slice(-2000)}`);
    found = JSON.parse(ended.stdout);
    equal(found.revision, "2026-07-28", "revision");
  });
  await served?.end();
  if (!found) return;
  await report.check(row, "list", limit, () => {
    for (const skill of skills) assert(found.skills[uriOf(`${skill}/SKILL.md`)], `${skill} is not among ${brief(Object.keys(found.skills))}`);
    const { frontmatter } = found.skills[uriOf("refunds/SKILL.md")];
    for (const [field, value] of Object.entries(refunds)) equal(JSON.stringify(frontmatter[field]), JSON.stringify(value), field);
  });
  await report.check(row, "get", limit, () => {
    for (const [uri, { same }] of Object.entries(found.skills)) assert(same, `skills/get of ${uri} differs from skills/list`);
  });
  await report.check(row, "read", limit, () => {
    for (const skill of skills) {
      const got = found.skills[uriOf(`${skill}/SKILL.md`)].files;
      equal(Object.keys(got).length, filesOf(skill).length, `files of ${skill}`);
      for (const path of filesOf(skill)) sameFile(Buffer.from(got[uriOf(path)] ?? "", "base64"), path);
    }
  });
  await report.check(row, "folder", limit, () => {
    if (!peer.folders) skip("it does not read folders");
    const children = { "refunds/SKILL.md": "text/markdown", "refunds/logo ä.png": "image/png", "refunds/scripts": "inode/directory" };
    equal(JSON.stringify(found.folder.sort()), JSON.stringify(Object.entries(children).map(([path, type]) => [uriOf(path), type])), "children");
  });
  await report.check(row, "unknown", limit, () => assert(found.none?.includes("no skill is served"), `the error is ${brief(found.none)}`));
  for (const column of ["pull", "changed"]) await report.check(row, column, limit, () => skip("it is the host's"));
}

async function listening(port) {
  for (const end = Date.now() + limit; Date.now() < end; await sleep(100)) {
    const socket = createConnection(port, "127.0.0.1");
    const open = await new Promise((done) => socket.once("connect", () => done(true)).once("error", () => done(false)));
    socket.destroy();
    if (open) return;
  }
  throw new Error(`nobody listens on port ${port}`);
}

/**
 * fastmcp and rmcp return the command of a server on standard input and output; over
 * HTTP, they start one, and return its process and its URL.
 */
async function fastmcp(way) {
  const command = [python, join(here, "server.py"), folder];
  if (way === "stdio") return { command };
  const port = await freePort();
  const child = spawn(python, [join(here, "server.py"), folder, String(port)], { stdio: "ignore" });
  started.add(child);
  await listening(port);
  return { child, url: `http://127.0.0.1:${port}/mcp` };
}

async function rmcp(way) {
  const command = [rust, "skills", "server", way, folder];
  if (way === "stdio") return { command };
  const { child, told } = start(command[0], command.slice(1));
  return { child, url: await told(limit) };
}

/** asServer has `parley` read the skills of a peer. */
async function asServer(peer, way, row) {
  let url = [], command = [];
  let child;
  // A URL stands before the arguments, and a command after them.
  const json = async (verb, ...args) => {
    const ended = await run(parley, [...verb.split(" "), ...url, ...args, "--output", "json", ...command]);
    return { ...ended, result: ended.stdout ? JSON.parse(ended.stdout) : undefined };
  };
  const ok = await report.check(row, "connect", limit, async () => {
    const served = await peer.server(way);
    child = served.child;
    if (served.url) url = [served.url];
    else command = ["--", ...served.command];
    const { result, stderr } = await json("info");
    equal(result?.revision, "2026-07-28", `revision (${stderr})`);
  });
  if (ok) await readServer(row, json);
  child?.kill("SIGKILL");
  started.delete(child);
}

async function readServer(row, json) {
  await report.check(row, "list", limit, async () => {
    const { result, stderr } = await json("skills list");
    assert(result, stderr);
    equal(JSON.stringify(result.skills.map(({ uri }) => uri).sort()), JSON.stringify(skills.map((skill) => uriOf(`${skill}/SKILL.md`))), "skills");
  });
  await report.check(row, "get", limit, async () => {
    const { result, stderr } = await json("skills show", "refunds");
    assert(result, stderr);
    for (const [field, value] of Object.entries(refunds)) equal(JSON.stringify(result.skill.frontmatter[field]), JSON.stringify(value), field);
    equal(result.skill.resources.length, filesOf("refunds").length, "files");
  });
  await report.check(row, "read", limit, async () => {
    const { result, stderr } = await json("skills show", "refunds", "scripts/run.sh");
    assert(result, stderr);
    sameFile(Buffer.from(result.contents[0].text), "refunds/scripts/run.sh");
  });
  await report.check(row, "folder", limit, () => skip("`parley` takes the manifest"));
  await report.check(row, "unknown", limit, async () => {
    const { stderr } = await json("skills show", "skill://none/SKILL.md");
    equal(JSON.parse(stderr).error?.rpc?.code, -32602, `code of the error in ${stderr}`);
  });
  const into = mkdtempSync(join(scratch, "pulled-"));
  await report.check(row, "pull", limit, async () => {
    const { result, code, stderr } = await json("skills pull", into);
    equal(code, 0, `exit code: ${stderr}`);
    equal(result.skills.length, skills.length, "skills");
    for (const { uri, folder: place } of result.skills) {
      const skill = decodeURIComponent(uri.slice("skill://".length, -"/SKILL.md".length));
      for (const path of filesOf(skill)) sameFile(readFileSync(join(place, path.slice(skill.length + 1))), path);
      const found = readdirSync(place, { recursive: true, withFileTypes: true }).filter((e) => e.isFile() && !e.name.startsWith("."));
      equal(found.length, filesOf(skill).length, `files in ${place}`);
    }
  });
  await report.check(row, "changed", limit, async () => {
    const { result, code, stderr } = await json("skills pull", into);
    equal(code, 0, `exit code: ${stderr}`);
    for (const { uri, status } of result.skills) equal(status, "unchanged", uri);
  });
}
