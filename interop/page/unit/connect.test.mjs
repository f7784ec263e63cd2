import assert from "node:assert/strict";
import { test } from "node:test";

import { blank, lacksSecrets, misread, recentOf, serversOf, withoutSecrets } from "../../../cmd/parley/internal/page/static/inspect/connect-model.js";

const typed = { ...blank, server: "npx shop --token swordfish", env: [{ name: "KEY", value: "swordfish" }], headers: [{ name: "X-Key", value: "swordfish" }], login: { ...blank.login, secret: "swordfish" } };
const asked = { transport: "auto", revision: "auto" };

test("a draft has the server as the API masks it, and no values", () => {
  const kept = withoutSecrets(typed, "npx shop --token '***'");
  assert.ok(!JSON.stringify(kept).includes("swordfish"));
  assert.equal(kept.server, "npx shop --token '***'");
  assert.deepEqual(kept.env, [{ name: "KEY", value: "" }]);
  assert.ok(lacksSecrets(kept));
});

test("what stands for a secret that parley has is kept", () => {
  const changed = { ...blank, server: "https://a/mcp", headers: [{ name: "X-Key", value: "***" }], login: { ...blank.login, secret: "***" } };
  assert.deepEqual(withoutSecrets(changed, changed.server), changed);
});

test("a recent connection is what the API shows of it, and asks for its secrets again", () => {
  const connection = { title: "npx shop --token ***", target: { kind: "command", text: "npx shop --token ***", command: ["npx", "shop", "--token", "***"], env: [{ name: "KEY", value: "***" }] }, asked };
  const { text, form } = recentOf(connection, typed);
  assert.equal(text, connection.title);
  assert.equal(form.server, "npx shop --token '***'");
  assert.ok(!JSON.stringify(form).includes("swordfish"));
  assert.ok(lacksSecrets(form));
});

test("a recent connection without secrets, and one of a file, connect at once", () => {
  const plain = recentOf({ title: "https://a/mcp", target: { kind: "url", text: "https://a/mcp", url: "https://a/mcp" }, asked }, { ...blank, server: "https://a/mcp" });
  assert.ok(!lacksSecrets(plain.form));
  const entry = { name: "shop", file: "/mcp.json" };
  const filed = recentOf({ title: "shop", target: { entry, command: ["shop"], env: [{ name: "KEY", value: "***" }] }, asked }, { ...blank, entry });
  assert.deepEqual(filed.form.entry, entry);
  assert.ok(!lacksSecrets(filed.form));
});

test("what can be neither a URL nor a command is told from what can", () => {
  for (const text of ["https://a/mcp", "HTTP://localhost:80", "npx -y some-server", "./localhost:8080", "/bin/server", "server", "go run ./x", "node server.js", "server.exe", "C:/x/server.exe", "docker run a/b:latest", ""]) assert.equal(misread(text), "", text);
  for (const text of ["localhost:8080/mcp", "localhost/mcp", "127.0.0.1:80", "[::1]:80/mcp", "example.com/mcp", "box:8080"]) assert.match(misread(text), /http:\/\/ or https:\/\/ is missing/, text);
  assert.match(misread("ftp://a/b"), /cannot be reached by ftp/);
  assert.match(misread('{"a":1}'), /names no servers/);
  assert.match(misread("{"), /names no servers/);
});

test("a configuration that was pasted has the forms of its servers", () => {
  const text = '{"mcpServers":{"shop":{"command":"npx","args":["-y","a b"],"env":{"KEY":"x"}},"far":{"url":"https://a/mcp","headers":{"X":"1"}},"odd":3}}';
  const [shop, far, ...others] = serversOf(text);
  assert.deepEqual(others, []);
  assert.equal(shop.title, "shop");
  assert.equal(shop.server, "npx -y 'a b'");
  assert.deepEqual(shop.env, [{ name: "KEY", value: "x" }]);
  assert.equal(far.server, "https://a/mcp");
  assert.deepEqual(far.headers, [{ name: "X", value: "1" }]);
  assert.match(misread(text), /Pick one/);
});
