import assert from "node:assert/strict";
import { test } from "node:test";

import { blank, lacksSecrets, recentOf, withoutSecrets } from "../../../cmd/parley/internal/page/static/inspect/connect-model.js";

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
