// Skills: found, opened, checked.

import { ways } from "./lib.mjs";

export async function run(stage) {
  for (const way of ways) await reference(stage, way);
}

async function reference(stage, way) {
  const { inspect } = await stage.reference(way);
  const tab = await stage.open(inspect.address, { as: way.name });
  const check = (name, f) => stage.check(`${way.name} · ${name}`, f);

  if (way.revision === "2024-11-05") {
    await check("files of skills are plain resources where the revision has no skills", async () => {
      await tab.connected();
      await tab.go(`#/c1/resources?uri=${encodeURIComponent("skill://sample-shop/SKILL.md")}`);
      await tab.click("button", "Read");
      await tab.sees("sample-shop", "section[aria-label=Content]");
    });
    return;
  }

  await check("a skill is opened, and its SKILL.md verified", async () => {
    await tab.connected();
    await tab.go("#/c1/skills");
    await tab.page.waitForSelector("[role=option]");
    await tab.page.focus("[role=listbox]");
    await tab.press("Enter");
    await tab.sees("sha256:", "section.detail");
    await tab.sees("fits", "section[aria-label=File]");
  });

  await check("another file of it is shown, and all are checked", async () => {
    await tab.click("button", "references/queries.md");
    await tab.sees("references/queries.md", "section[aria-label=File] h3");
    await tab.click("button", "Check all files");
    await tab.sees("All 2 files fit.");
    await tab.click("button", "Look at what the server has there now");
    await tab.sees("SKILL.md", "section[aria-label=Directory]");
    await tab.shot(stage.shots, `skill-${way.name.replace(" ", "-")}`);
  });

  await check("a skill that there is not is an error that says so", async () => {
    stage.expect(/status of 502/);
    await tab.fill("By its URI", "skill://none/SKILL.md");
    await tab.press("Enter");
    await tab.page.waitForSelector("section.detail .notice.error");
    await tab.shot(stage.shots, `skill-missing-${way.name.replace(" ", "-")}`);
  });
}
