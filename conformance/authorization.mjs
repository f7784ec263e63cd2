// Runs the suite against an authorization server, and plays the user that one of
// its scenarios waits for:
//
//   node authorization.mjs SUITE ISSUER RESOURCE FOLDER REVISION

import { spawn } from "node:child_process";
import { createServer } from "node:net";

import { User } from "../interop/lib/user.mjs";

const [suite, issuer, resource, folder, revision] = process.argv.slice(2);

/** freePort returns a port that is free at the moment; the suite cannot choose one itself. */
function freePort() {
  return new Promise((done, fail) => {
    const probe = createServer().once("error", fail);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}

async function register(port) {
  const response = await fetch(`${issuer}/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_name: "Conformance suite",
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
      token_endpoint_auth_method: "none",
    }),
  });
  if (response.status !== 201) throw new Error(`registration: ${response.status} ${await response.text()}`);
  return (await response.json()).client_id;
}

const port = await freePort();
const client = await register(port);
const child = spawn(
  process.execPath,
  [suite, "authorization", "--url", issuer, "--client-id", client, "--resource", resource, "--port", port, "--spec-version", revision, "-o", folder],
  { stdio: ["ignore", "pipe", "inherit"] },
);
const ended = new Promise((done) => child.once("close", done));
process.once("SIGTERM", () => child.kill());

let said = "";
let visited = false;
child.stdout.setEncoding("utf8").on("data", (chunk) => {
  process.stdout.write(chunk);
  said += chunk;
  const [, url] = /^(http\S+\/authorize\?\S+)\n/m.exec(said) ?? [];
  // The suite prints the URL before it listens for the answer.
  if (!url || visited || !said.includes("Callback server started")) return;
  visited = true;
  new User().visit(url).catch((error) => {
    console.error(error);
    child.kill(); // the suite would wait for five minutes
  });
});

// The results are in files, which are judged elsewhere.
await ended;
