// What the first view costs: bytes from the server, and time. Both are promised.

import { Tab, assert, parley, until } from "./lib.mjs";
import { emptySite, firstView, kept } from "./lib/pace.mjs";

const mostBytes = 200 * 1024;

export async function run(stage) {
  const empty = await emptySite(stage);
  const cases = [
    { name: "no server", args: [], hash: "#/", sees: "Connect" },
    { name: "the reference server", args: ["--", parley, "serve", "--stdio"], hash: "#/c1", sees: "Overview" },
  ];
  for (const { name, args, hash, sees } of cases) {
    const inspect = await stage.inspect(args);
    await stage.check(`the first view, ${name}`, async () => {
      const { bytes, list, requests } = await measure(stage, await inspect.another(), hash, sees, { all: true });
      assert(bytes <= mostBytes, `${bytes} bytes, more than ${mostBytes}: ${list}`);
      const said = await kept(firstView, {
        page: async () => ({ "the first view": (await measure(stage, await inspect.another(), hash, sees)).time }),
        empty: async () => (await measure(stage, empty, "#/", "Almost empty")).time,
      });
      return `${(bytes / 1024).toFixed(1)} KiB in ${requests} requests; ${said}`;
    }, 240_000);
  }
}

/** measure opens a page in a fresh profile and counts what comes until its first view is shown; all: and soon after that. */
async function measure(stage, address, hash, sees, { all = false } = {}) {
  const tab = await Tab.open(stage.browser, "about:blank");
  const session = await tab.page.createCDPSession();
  await session.send("Network.enable");
  const sizes = new Map();
  const urls = new Map();
  session.on("Network.responseReceived", ({ requestId, response }) => urls.set(requestId, new URL(response.url).pathname));
  // With the headers, as they are on the wire. The stream of events never ends.
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => sizes.set(requestId, encodedDataLength));
  // The page's own clock, from the request on: whoever drives the browser may be slow.
  await tab.page.evaluateOnNewDocument(
    (at, text) => {
      const is = () => location.hash === at && document.querySelector("main h1, main h2") && !document.querySelector("main .spinner") && document.body.innerText.includes(text);
      // The picture with the view is drawn right after the frame's callback that sees it.
      const look = () => requestAnimationFrame(() => (is() ? requestAnimationFrame(() => (globalThis.shownAfter = performance.now())) : look()));
      look();
    },
    hash,
    sees,
  );
  await tab.page.goto(address, { waitUntil: "domcontentloaded" });
  const time = await until(() => tab.page.evaluate(() => globalThis.shownAfter), `the view of ${address}`);
  if (all) await new Promise((done) => setTimeout(done, 300));
  const list = [...sizes].map(([id, size]) => `${urls.get(id)} ${size}`).join(", ");
  const bytes = [...sizes.values()].reduce((a, b) => a + b, 0);
  await tab.close();
  return { bytes, time, requests: sizes.size, list };
}
