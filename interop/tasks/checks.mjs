// What the TypeScript clients check, whichever package they are made of. It writes a
// line of JSON for each check to standard output.
//
// A client is a function of a server ({ command } or { url }), a revision, and of an
// `answer`, which gets "elicitation" or "sampling" and returns the result. It returns
//
//   declared        what the server says of tasks, or undefined
//   start           of a tool and its arguments: { id, status, done }, where done is the
//                   promise of the call's result
//   status, cancel  of an ID; cancel returns once the server has accepted it
//   list            the IDs of the server's tasks
//   told            how many notifications about states have come
//   listen          has the server notify of the states of a task, where that is needed
//   apart           calls the tool of a server that asks by tasks, and returns its result
//   close

import { setTimeout as sleep } from "node:timers/promises";

import { assert, brief, equal, within } from "../lib/report.mjs";

const limit = 60_000;
const said = (result) => result.content.map((block) => block.text ?? "").join("\n");

/** check runs all checks of a client against what `expected` says of the servers. */
export async function check(open, expected) {
  const { annual } = expected;
  let parley, ours, slow;
  let next = () => assert(false, "nothing was to be asked");
  const answering = (answer, run) => {
    next = answer;
    return run();
  };
  const accept = (kind) => {
    equal(kind, "elicitation", "the question");
    return { action: "accept", content: annual.answer };
  };

  await column("connect", async () => {
    parley = await open(expected.parley, expected.revision, (kind) => next(kind));
    ours = await open(expected.ours, expected.revision, (kind) => next(kind));
    assert(parley.declared && ours.declared, "the server does not declare tasks");
  });
  if (!ours) return process.exit(0);
  await column("result", async () => {
    const task = await parley.start(annual.name, annual.complete);
    equal(task.status, "working", "the first status");
    includes(said(await task.done), annual.text);
  });
  await column("poll", async () => {
    slow = await parley.start(annual.name, annual.slow);
    slow.done.catch(() => {}); // it will be cancelled
    let state = {};
    while (!state.statusMessage) {
      await sleep(50);
      state = await parley.status(slow.id);
      equal(state.status, "working", "the status");
    }
    includes(state.statusMessage, annual.message);
  });
  await column("list", async () => {
    includes(await parley.list(), slow.id);
  });
  await column("cancel", async () => {
    await parley.cancel(slow.id);
    equal((await parley.status(slow.id)).status, "cancelled", "the status");
    const outcome = await slow.done.then(said, (error) => error.message);
    includes(outcome, "cancel");
  });
  await column("ask", () =>
    answering(accept, async () => {
      const { structuredContent } = await (await parley.start(annual.name, {})).done;
      equal(structuredContent.format, annual.answer.format, "the format");
    }),
  );
  await column("failure", () =>
    answering(
      () => ({ action: "decline" }),
      async () => {
        const result = await (await parley.start(annual.name, {})).done;
        assert(result.isError, "the result is not that of a failure");
        includes(said(result), annual.declined);
      },
    ),
  );
  await column("sample", () =>
    answering(
      (kind) => {
        equal(kind, "sampling", "the question");
        return { role: "assistant", model: "none", content: { type: "text", text: "Because." } };
      },
      async () => includes(said(await (await ours.start("ask", { text: "Why?" })).done), "the model said: Because."),
    ),
  );
  await column("error", async () => {
    const { done } = await ours.start("broken", {});
    const error = await done.then(
      (result) => assert(false, `there is a result: ${brief(result)}`),
      (failed) => failed,
    );
    equal(error.code, 4242, "the code");
  });
  await column("unknown", async () => {
    const error = await parley.status("there-is-no-such-task").catch((failed) => failed);
    equal(error.code, -32602, "the code");
  });
  await column("notify", async () => {
    const before = parley.told();
    const task = await parley.start(annual.name, annual.slow);
    task.done.catch(() => {});
    await parley.listen?.(task.id);
    await parley.cancel(task.id);
    while (parley.told() === before) await sleep(20);
  });
  await column("apart", () =>
    answering(
      () => ({ action: "accept", content: { name: "Ada" } }),
      async () => includes(said(await ours.apart("hello")), "Hello, Ada."),
    ),
  );
  await column("end", async () => {
    await parley.close();
    await ours.close();
  });
  process.exit(0);

  async function column(name, run) {
    if (expected.lacks.includes(name)) return;
    try {
      await within(limit, run(), name);
      console.log(JSON.stringify({ column: name, passed: true }));
    } catch (error) {
      console.log(JSON.stringify({ column: name, passed: false, text: error.stack ?? String(error) }));
    }
  }
}

function includes(whole, part) {
  assert(whole.includes(part), `${brief(part)} is missing in ${brief(whole)}`);
}
