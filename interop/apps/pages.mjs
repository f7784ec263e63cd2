// Serves the two pages of a web host, each with an origin of its own.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));

const hostPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title>
<style>body { margin: 0; padding: 12px } iframe { display: block; width: 100%; height: 200px; border: 0 }</style>
<iframe title="App"></iframe><script type="module" src="host.js"></script>`;

const sandboxPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sandbox</title>
<style>html, body, iframe { margin: 0; width: 100%; height: 100%; border: 0; display: block }</style>
<iframe title="App" sandbox="allow-scripts allow-same-origin"></iframe><script src="sandbox.js"></script>`;

/** hostPages serves the host's page. */
export async function hostPages() {
  const { outputFiles } = await build({
    entryPoints: [join(here, "host.mjs")],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    logLevel: "error",
  });
  return serve({ "/": [hostPage, "text/html"], "/host.js": [outputFiles[0].text, "text/javascript"] });
}

/** sandboxPages serves the page that the app is in, under its policy. */
export function sandboxPages(policy) {
  const script = readFileSync(join(here, "sandbox.mjs"), "utf8");
  return serve({ "/": [sandboxPage, "text/html"], "/sandbox.js": [script, "text/javascript"] }, { "content-security-policy": policy });
}

async function serve(files, headers = {}) {
  const server = createServer((request, response) => {
    const [text, type] = files[new URL(request.url, "http://x").pathname] ?? [];
    response.writeHead(text ? 200 : 404, { "content-type": `${type ?? "text/plain"}; charset=utf-8`, ...headers });
    response.end(text);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
