// Everything the suites assume about `parley serve`. If names or arguments change
// there, this is the only file to update.

const rows = 600;

export const server = {
  stdio: ["serve", "--stdio"],

  // One line per request that has ended, with its outcome at the end.
  log: { uri: "log://recent", cancelled: `"count_slowly".*: cancelled$` },

  calculate: {
    name: "calculate",
    arguments: { expression: "2 + 3 * 4" },
    text: "14",
    wrongArguments: {},
    // A model can only correct its call when the text names what is missing.
    missing: "expression",
  },

  unknownTool: "no_such_tool",

  structured: { name: "sales_report", arguments: { region: "emea" }, member: "region", value: "emea" },

  // With --root, and a client whose only root is the folder `inside` below it.
  roots: { name: "find_files", arguments: { pattern: "**/*.txt" }, inside: "here.txt", outside: "outside.txt" },

  // The resource changes when the tool is called.
  change: { uri: "db://schema", name: "import_csv", arguments: { csv: "id\n1", table: "changed", replace: true } },

  resource: { uri: "server://info" },

  prompt: {
    name: "code_review",
    arguments: { code: "x = 1", language: "python" },
    // Both arguments have to find their way into the rendered messages.
    contains: ["x = 1", "python"],
  },

  completion: { argument: "language", prefix: "py", includes: "python" },

  // Reports progress once per batch of rows.
  progress: {
    name: "import_csv",
    arguments: {
      csv: ["id,name", ...Array.from({ length: rows }, (_, i) => `${i + 1},name ${i + 1}`)].join("\n"),
      table: "people",
    },
    // A table is made once, and over HTTP all clients share one database.
    distinct: "table",
  },

  // Slow enough that no two notifications share a read: the clients themselves
  // lose progress that arrives together with the response.
  paced: { name: "count_slowly", arguments: { steps: 4, delay_ms: 150 } },

  // Takes 20 s unless it is cancelled, far longer than any check may take.
  slow: { name: "count_slowly", arguments: { steps: 1000, delay_ms: 20 } },

  checkout: {
    name: "checkout",
    arguments: {},
    questions: 2,
    // By property name; whatever is not listed is answered from its schema.
    answers: {},
  },

  sampling: {
    name: "classify_log",
    arguments: { entry: "Failed to connect after 3 retries" },
    // The model's prompt has to contain the entry, and the result its answer.
    prompt: "Failed to connect after 3 retries",
    answer: "ERROR",
  },

  // Can be a task, says what it has done, and asks in the middle what the arguments do
  // not say. With `slow` it takes long enough to be looked at and cancelled.
  annual: {
    name: "annual_report",
    complete: { format: "csv", threshold_cents: 100_000 },
    slow: { pace_ms: 2000, format: "csv", threshold_cents: 100_000 },
    message: "is done",
    answer: { format: "csv", threshold_cents: 100_000 },
    text: "products reach the threshold",
    declined: "there is no report",
  },
};

/** behind is `server` as clients of a gateway see it, which calls it `backend`. */
export function behind(backend) {
  const named = (feature) => ({
    ...feature,
    ...(feature.name && { name: `${backend}__${feature.name}` }),
    ...(feature.uri && { uri: `mcp:${backend}:${feature.uri}` }),
  });
  const plain = Object.entries(server).map(([key, value]) => [key, value.name || value.uri ? named(value) : value]);
  return Object.fromEntries(plain);
}
