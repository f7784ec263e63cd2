// The page of parley inspect and the console of a gateway in a real browser. See ../README.md.
//
// A scenario is a file NAME.mjs beside this one that exports run(stage): it calls
// stage.check(name, f) for each thing that it proves. unit/*.test.mjs are tests of modules
// of the page that need no browser.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { Skip, brief, within } from "../lib/report.mjs";
import { Inspect, Tab, everything, here, launch, needed, reference } from "./lib.mjs";

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" }, // names of scenarios, with commas; "unit" is the tests of modules
    check: { type: "string" }, // a part of the names of checks
    shots: { type: "string" }, // a folder for screenshots
    trace: { type: "boolean", default: false }, // what the browser says, to standard error
  },
});

for (const missing of needed()) {
  console.error(missing);
  process.exitCode = 2;
}
if (process.exitCode) process.exit();
if (flags.shots) mkdirSync(flags.shots, { recursive: true });

// Each server is ended with this process, by a listener of its own.
process.setMaxListeners(500);

let passed = 0;
let failed = 0;

/** Stage is what a scenario works with. It ends what the scenario has started. */
class Stage {
  #ends = [];
  #tabs = [];
  #expected = [];

  constructor(name, browser) {
    Object.assign(this, { name, browser, shots: flags.shots, trace: flags.trace });
  }

  /** check proves one thing; it may take limit milliseconds. */
  async check(name, f, limit = 120_000) {
    if (flags.check && !name.includes(flags.check)) return;
    const began = Date.now();
    try {
      const said = await within(limit, Promise.resolve().then(f), name);
      passed++;
      console.log(`✓ ${this.name} · ${name}${typeof said === "string" ? ` · ${said}` : ""} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
    } catch (error) {
      if (error instanceof Skip) {
        console.log(`– ${this.name} · ${name} · ${error.message}`);
        return;
      }
      failed++;
      const shown = await this.#shown();
      console.log(`✗ ${this.name} · ${name}\n    ${[String(error.stack ?? error), ...shown].join("\n").replaceAll("\n", "\n    ")}`);
    }
  }

  /** shown is what the pages show: of a check that failed, it says what a person would have seen. */
  async #shown() {
    const read = async (tab) => `shown at ${tab.page.url()}: ${brief((await within(5000, tab.text(), "the text")).replaceAll(/\s*\n\s*/g, " | "), 1500)}`;
    const texts = await Promise.allSettled(this.#tabs.map(read));
    return texts.map(({ value, reason }) => value ?? String(reason));
  }

  /** after has f called at the end of the scenario. */
  after(f) {
    this.#ends.unshift(f);
  }

  /** expect says which complaints of the browser are what the scenario wants. */
  expect(pattern) {
    this.#expected.push(pattern);
  }

  /** inspect starts parley inspect. */
  async inspect(...args) {
    const inspect = await Inspect.start(...args);
    this.after(() => inspect.end());
    return inspect;
  }

  /** reference starts parley inspect with the reference server. */
  async reference(...args) {
    const made = await reference(...args);
    this.after(() => made.end());
    return made;
  }

  /** everything starts parley inspect with the official server that has everything. */
  async everything(...args) {
    const made = await everything(...args);
    this.after(() => made.end());
    return made;
  }

  /** open opens a page in a profile of its own; what the browser complains about fails the scenario. */
  async open(address, options = {}) {
    const tab = await Tab.open(this.browser, address, { trace: flags.trace, ...options });
    this.#tabs.push(tab);
    this.after(async () => {
      this.#tabs = this.#tabs.filter((other) => other !== tab);
      await tab.close();
      const bad = tab.complaints.filter((text) => !this.#expected.some((pattern) => pattern.test(text)));
      await this.check(`the browser has no complaints (${options.as ?? "page"})`, () => {
        if (bad.length > 0) throw new Error(brief(bad.slice(0, 10).join("\n"), 3000));
      });
    });
    return tab;
  }

  async end() {
    for (const f of this.#ends) {
      try {
        await f();
      } catch (error) {
        await this.check("the end", () => Promise.reject(error));
      }
    }
  }
}

const wanted = flags.only?.split(",");
const chosen = (name) => !wanted || wanted.includes(name);
const scenarios = readdirSync(here)
  .filter((file) => file.endsWith(".mjs") && !["run.mjs", "lib.mjs"].includes(file))
  .map((file) => file.slice(0, -4))
  .filter(chosen);

if (chosen("unit") && existsSync(join(here, "unit"))) {
  const { stdout } = spawnSync(process.execPath, ["--test", "--test-reporter=tap", join(here, "unit")], { encoding: "utf8", cwd: here });
  const count = (what) => Number(new RegExp(`^# ${what} (\\d+)$`, "m").exec(stdout)?.[1] ?? 0);
  passed += count("pass");
  failed += count("fail") + (count("tests") === 0 ? 1 : 0);
  const bad = stdout.split(/^(?=# Subtest: )/m).filter((part) => /^not ok /m.test(part));
  for (const part of bad) console.log(part.trimEnd());
  if (count("tests") === 0) console.log(stdout);
  console.log(`${count("fail") ? "✗" : "✓"} unit · ${count("pass")} tests of modules`);
}

const browser = scenarios.length > 0 ? await launch() : undefined;
for (const name of scenarios) {
  const stage = new Stage(name, browser);
  try {
    const { run } = await import(`./${name}.mjs`);
    await run(stage);
  } catch (error) {
    await stage.check("the scenario", () => Promise.reject(error));
  }
  await stage.end();
}
await browser?.close();
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
