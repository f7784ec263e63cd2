// Compares reports with expected.tsv: node expected.mjs REPORTS NAME...
// --write makes the lines of the reports instead.
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("expected.tsv", import.meta.url);
const write = process.argv[2] === "--write";
const [reports, ...names] = process.argv.slice(write ? 3 : 2);

const seen = new Map();
for (const name of names) {
  const report = JSON.parse(readFileSync(`${reports}/${name}.json`, "utf8"));
  for (const run of report.runs) {
    const failed = run.verdicts.filter((v) => v.outcome === "fail").map((v) => v.row);
    seen.set(`${name}\t${run.revision}`, failed.sort().join(" ") || "none");
  }
}

if (write) {
  const lines = [...seen].sort().map(([key, rows]) => `${key}\t${rows}\n`);
  writeFileSync(file, "# report\trevision\tfailed MUSTs\n" + lines.join(""));
  process.exit();
}

let differences = 0;
for (const line of readFileSync(file, "utf8").split("\n")) {
  const [name, revision, rows] = line.split("\t");
  if (!rows || name.startsWith("#") || !names.includes(name)) continue;
  const key = `${name}\t${revision}`;
  if (seen.get(key) !== rows) {
    differences++;
    console.log(`${name} in ${revision}: the rows that failed are ${seen.get(key) ?? "not judged"}; expected.tsv has ${rows}`);
  }
  seen.delete(key);
}
for (const [key, rows] of seen) {
  differences++;
  console.log(`${key.replace("\t", " in ")}: expected.tsv does not have it; the rows that failed are ${rows}`);
}
process.exit(differences > 0 ? 1 : 0);
