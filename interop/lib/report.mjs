// A small reporter shared by all suites: a table with one mark per check, the
// full text of every failure below it, and the count alone on the last line.

export class Skip extends Error {}

/** skip marks a check as not applicable; it counts neither as passed nor as failed. */
export function skip(why) {
  throw new Skip(why);
}

export function assert(condition, message) {
  if (!condition) throw new Error(message);
}

export function equal(actual, expected, what) {
  assert(
    actual === expected,
    `${what}: expected ${brief(expected)}, got ${brief(actual)}`,
  );
}

/** brief renders a value for a failure text without flooding the terminal. */
export function brief(value, limit = 400) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text === undefined) return String(value);
  return text.length > limit ? `${text.slice(0, limit)}… (${text.length} characters)` : text;
}

/** within rejects when a promise takes too long, so that one check that hangs cannot block the suite. */
export async function within(milliseconds, promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what}: no outcome after ${milliseconds} ms`)),
      milliseconds,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

export class Report {
  constructor(title, columns) {
    this.title = title;
    this.columns = columns;
    this.rows = [];
    this.failures = [];
    this.notes = new Set();
    this.passed = 0;
    this.failed = 0;
  }

  row(name) {
    const row = { name, cells: {}, context: () => "" };
    this.rows.push(row);
    return row;
  }

  note(text) {
    this.notes.add(text);
  }

  /** check runs one column of one row and records how it ended. */
  async check(row, column, limit, run) {
    try {
      await within(limit, Promise.resolve().then(run), column);
      row.cells[column] = "✓";
      this.passed++;
      return true;
    } catch (error) {
      if (error instanceof Skip) {
        row.cells[column] = "–";
        return true;
      }
      this.fail(row, column, error);
      return false;
    }
  }

  fail(row, column, error) {
    row.cells[column] = "✗";
    this.failed++;
    const code = error?.code === undefined ? "" : ` (code ${error.code})`;
    const text = error instanceof Error ? `${readable(error.message)}${code}` : brief(error);
    this.failures.push({ row, column, text, context: row.context() });
  }

  print(write = (line) => console.log(line)) {
    const first = Math.max(this.title.length, ...this.rows.map((row) => row.name.length));
    write([this.title.padEnd(first), ...this.columns].join("  "));
    for (const row of this.rows) {
      const cells = this.columns.map((column) => center(row.cells[column] ?? " ", column.length));
      write([row.name.padEnd(first), ...cells].join("  ").trimEnd());
    }
    if (this.notes.size > 0) write("");
    for (const note of [...this.notes].sort()) write(`note: ${note}`);
    // Rows run side by side; their failures read better in the order of the table.
    const inOrder = this.rows.flatMap((row) => this.failures.filter((failure) => failure.row === row));
    for (const { row, column, text, context } of inOrder) {
      write(`\n✗ ${row.name} · ${column}\n${indent(text)}`);
      if (context) write(indent(context));
    }
    write("");
    write(`${this.passed} passed, ${this.failed} failed`);
  }
}

/**
 * readable shortens what a schema validator of the SDKs reports, a whole JSON
 * document as the message, to one line per objection.
 */
export function readable(message) {
  const start = message.indexOf("[");
  if (start < 0) return message;
  try {
    const lines = objections(JSON.parse(message.slice(start)));
    return [message.slice(0, start) + lines[0], ...lines.slice(1, 6)].join("\n");
  } catch {
    return message;
  }
}

function objections(issues) {
  const lines = issues.flatMap((issue) => {
    // Of a union's alternatives, the first one stands for all.
    const nested = issue.unionErrors?.[0]?.issues ?? issue.errors?.[0];
    return nested?.length > 0 ? objections(nested) : [`${(issue.path ?? []).join(".")}: ${issue.message}`];
  });
  return [...new Set(lines)];
}

function center(mark, width) {
  const left = Math.floor((width - 1) / 2);
  return " ".repeat(left) + mark + " ".repeat(Math.max(0, width - left - 1));
}

function indent(text) {
  return text
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
}
