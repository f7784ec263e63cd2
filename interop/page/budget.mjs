// What the first view costs: bytes from the server, and time. The bytes are a promise; the time is
// printed, and judged generously, because the machine may be busy.

import { Tab, assert, parley } from "./lib.mjs";

const mostBytes = 200 * 1024;
const mostTime = 300; // promised for a machine that is not busy
const busy = 5;

export async function run(stage) {
  const cases = [
    { name: "no server", args: [], hash: "#/", sees: "Connect" },
    { name: "the reference server", args: ["--", parley, "serve", "--stdio"], hash: "#/c1", sees: "Overview" },
  ];
  for (const { name, args, hash, sees } of cases) {
    const inspect = await stage.inspect(args);
    await stage.check(`the first view, ${name}`, async () => {
      const first = await measure(stage, await inspect.another(), hash, sees);
      assert(first.bytes <= mostBytes, `${first.bytes} bytes, more than ${mostBytes}: ${first.list}`);
      const times = [first.time];
      for (let i = 0; i < 4; i++) times.push((await measure(stage, await inspect.another(), hash, sees)).time);
      times.sort((a, b) => a - b);
      assert(times[0] <= mostTime * busy, `the fastest of five took ${times[0]} ms`);
      return `${(first.bytes / 1024).toFixed(1)} KiB in ${first.requests} requests; shown after ${times.map((t) => t.toFixed(0)).join(", ")} ms`;
    });
  }
}

/** measure opens a page in a fresh profile and counts what comes until its first view is shown. */
async function measure(stage, address, hash, sees) {
  const tab = await Tab.open(stage.browser, "about:blank");
  const session = await tab.page.createCDPSession();
  await session.send("Network.enable");
  const sizes = new Map();
  const urls = new Map();
  session.on("Network.responseReceived", ({ requestId, response }) => urls.set(requestId, new URL(response.url).pathname));
  // With the headers, as they are on the wire. The stream of events never ends.
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => sizes.set(requestId, encodedDataLength));
  await tab.page.goto(address, { waitUntil: "domcontentloaded" });
  await tab.page.waitForFunction((at, text) => location.hash === at && document.querySelector("main h1, main h2") && !document.querySelector("main .spinner") && document.body.innerText.includes(text), { polling: "raf" }, hash, sees);
  // The mark of the first picture with the view: from the request of the page on.
  const time = await tab.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(performance.now()))));
  await new Promise((done) => setTimeout(done, 300));
  const list = [...sizes].map(([id, size]) => `${urls.get(id)} ${size}`).join(", ");
  const bytes = [...sizes.values()].reduce((a, b) => a + b, 0);
  await tab.close();
  return { bytes, time, requests: sizes.size, list };
}
