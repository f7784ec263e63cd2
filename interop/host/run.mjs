// Tries the conversions of client/host on the types that OpenAI and Anthropic publish for
// their APIs. See ../README.md.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { Report, assert } from "../lib/report.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const hosts = resolve(here, "../../client/host");
const program = resolve(here, "../../.tmp/interop-host");
const compiler = resolve(here, "node_modules/typescript/bin/tsc");
const limit = 120_000;
for (const file of [program, compiler]) {
  if (!existsSync(file)) {
    console.error(`${file} does not exist: interop/run.sh makes it`);
    process.exit(2);
  }
}

const report = new Report("API", ["request", "response", "tools", "results", "types"]);
const rows = new Map();
const output = execFileSync(program, [hosts], { encoding: "utf8" });
for (const line of output.trim().split("\n")) {
  const { api, check, error } = JSON.parse(line);
  if (!rows.has(api)) rows.set(api, report.row(api));
  await report.check(rows.get(api), check, limit, async () => assert(!error, error));
}

// A request is what their types say, with nothing besides: the compiler refuses members
// that they do not have.
for (const [api, file, imported, type] of [
  ["Anthropic Messages", "anthropic/testdata/request.json", 'Anthropic from "@anthropic-ai/sdk"', "Anthropic.MessageCreateParamsNonStreaming"],
  ["OpenAI Responses", "openai/testdata/responses.json", 'OpenAI from "openai"', "OpenAI.Responses.ResponseCreateParamsNonStreaming"],
  ["OpenAI Chat Completions", "openai/testdata/chat.json", 'OpenAI from "openai"', "OpenAI.Chat.ChatCompletionCreateParamsNonStreaming"],
]) {
  const request = readFileSync(resolve(hosts, file), "utf8").trim();
  await report.check(rows.get(api), "types", limit, async () => {
    compile(`import type ${imported};\nexport const request = ${request} satisfies ${type};\n`);
    const wrong = request.replace("{", '{ "no_such_member": 1,');
    assert(refused(`import type ${imported};\nexport const request = ${wrong} satisfies ${type};\n`), "a member that there is not was taken");
  });
}

/** compile fails with what the compiler of TypeScript says about a program. */
function compile(text) {
  const file = resolve(here, `request-${process.pid}.ts`);
  writeFileSync(file, text);
  const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022"];
  try {
    execFileSync(process.execPath, [compiler, ...flags, file], { cwd: here, encoding: "utf8" });
  } catch (error) {
    throw new Error(error.stdout || error.message);
  } finally {
    rmSync(file);
  }
}

function refused(text) {
  try {
    compile(text);
  } catch {
    return true;
  }
  return false;
}

report.print();
process.exitCode = report.failed > 0 ? 1 : 0;
