// However much there is to see, the page as a whole stays where it is: only its parts are scrolled.

import { join } from "node:path";

import { here, parley } from "./lib.mjs";
import { places } from "./manners.mjs";

export async function run(stage) {
  const inspect = await stage.inspect(["--", process.execPath, join(here, "servers/tools.mjs"), "--choices", "40"]);
  const tab = await stage.open(inspect.address);
  await tab.connected();

  await stage.check("a form of many choices", async () => {
    await tab.go("#/c1/tools/choices");
    await tab.sees("choice_39", ".tool");
    await tab.stays();
    await tab.page.$eval(".pane.detail", (pane) => pane.scrollTo(0, pane.scrollHeight));
    await tab.stays();
    await tab.shot(stage.shots, "scroll-choices");
  });

  await stage.check("many connections in a low window", async () => {
    await tab.page.setViewport({ width: 1280, height: 400 });
    for (let i = 0; i < 8; i++) await tab.api("post", "/connections", { args: [parley, "serve", "--stdio"] });
    await tab.connected("c9");
    for (const place of await places(tab, "c9")) {
      await tab.go(place);
      try {
        await tab.stays();
      } catch (error) {
        throw new Error(`${place}: ${error.message}`);
      }
    }
    await tab.go("#/compare?a=c1&b=c9");
    await tab.sees("What differs".slice(0, 4), "main");
    await tab.stays();
    await tab.shot(stage.shots, "scroll-connections");
  });
}
