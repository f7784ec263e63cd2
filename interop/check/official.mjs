// Compares what the official suite says of servers with what parley check says, and
// writes docs/check-official.md: node official.mjs REPORTS NAME...
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [reports, ...names] = process.argv.slice(2);

const same = new Map();
for (const line of readFileSync("official.tsv", "utf8").split("\n")) {
  if (line === "" || line.startsWith("#")) continue;
  const [check, rows, remark] = line.split("\t");
  same.set(check, { rows: rows.split(","), remark: remark ?? "" });
}

// What the checks of the suite say of a server: failures by the ID of the check.
function failures(folder) {
  const all = { ran: 0, failed: new Map() };
  if (!existsSync(folder)) return all;
  for (const run of readdirSync(folder)) {
    const file = join(folder, run, "checks.json");
    if (!existsSync(file)) continue;
    for (const check of JSON.parse(readFileSync(file, "utf8"))) {
      all.ran++;
      if (check.status === "FAILURE") all.failed.set(check.id, check.errorMessage ?? "");
    }
  }
  return all;
}

// The rows that ours saw broken, in any revision.
function broken(file) {
  const rows = new Set();
  if (!existsSync(file)) return rows;
  for (const run of JSON.parse(readFileSync(file, "utf8")).runs) {
    for (const v of run.verdicts) if (v.outcome === "fail" || v.outcome === "warn") rows.add(v.row);
  }
  return rows;
}

const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ").slice(0, 160);

console.log(`# The official suite and ours

The official conformance suite was run against the servers of [check-peers.md](check-peers.md) over Streamable HTTP. Most of its scenarios call features by
names that only its own fixtures have ("test_image_content"); they say nothing of these servers and are counted as "fixtures". What is left fails where
\`parley check\` fails, too, unless the last column says why not. The reverse is common: the suite has no check for most of what fails there. It sends a foreign
Host together with a foreign Origin, for example, so a server that looks at Host alone passes, and fails 2511.basic.transports-013. \`interop/check/run.sh --official\`
makes this page, from the reports that \`run.sh --role server --transport http\` left before.

| server | checks run | failed for lack of fixtures | failed | \`parley check\` |
|---|---|---|---|---|`);
let disagreements = 0;
for (const name of names.sort()) {
  const suite = failures(join(reports, `${name}.official`));
  const ours = broken(join(reports, `${name}.json`));
  const own = [...suite.failed].filter(([id]) => same.has(id));
  const fixtures = suite.failed.size - own.length;
  if (own.length === 0) {
    console.log(`| ${name} | ${suite.ran} | ${fixtures} | none | |`);
  }
  for (const [id, why] of own) {
    const { rows, remark } = same.get(id);
    const found = rows.filter((row) => ours.has(row));
    if (found.length === 0 && remark === "") disagreements++;
    const says = found.length > 0 ? `fails ${found.join(", ")}` : `does not: ${remark || "not explained"}`;
    console.log(`| ${name} | ${suite.ran} | ${fixtures} | ${id}: ${cell(why)} | ${cell(says)} |`);
  }
}
if (disagreements > 0) {
  console.error(`${disagreements} disagreements are not explained: see docs/check-official.md and official.tsv`);
  process.exit(1);
}
