// Runs the official Java SDK against parley, in both roles and over stdio and HTTP.
// See ../README.md.

import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { runPeers } from "../lib/peer.mjs";

const built = resolve(fileURLToPath(import.meta.url), "../../../.tmp/interop-java");

// What each version speaks is a matter of its transports.
const versions = [
  { version: "0.17.0", client: { stdio: "2024-11-05", http: "2025-06-18" }, server: { stdio: "2024-11-05", http: "2025-06-18" } },
  { version: "2.1.0", client: { stdio: "2025-11-25", http: "2025-11-25" }, server: { stdio: "2025-11-25", http: "2025-11-25" } },
];

const rows = [];
for (const { version, ...revisions } of versions) {
  const folder = join(built, version);
  const path = `${join(folder, "classes")}:${join(folder, "lib")}/*`;
  for (const role of ["client", "server"]) {
    for (const way of ["stdio", "http"]) {
      const lacks = {};
      if (role === "client") lacks.cancel = "the clients of the Java SDK do not cancel";
      if (role === "server" && version === "0.17.0") lacks.subscribe = "the servers of 0.17.0 have no subscriptions";
      if (role === "client" && revisions[role][way] === "2024-11-05") {
        lacks.structured = "2024-11-05 has no structured content";
        lacks.elicit = "2024-11-05 has no elicitation, and parley serve does not ask";
      }
      rows.push({
        name: `mcp ${version} ${role} ${way}`.padEnd(24) + revisions[role][way],
        role,
        way,
        revision: revisions[role][way],
        lacks,
        needs: join(folder, "classes"),
        // Only the quick compiler: these processes do not live long.
        command: ["java", "-XX:TieredStopAtLevel=1", `-Dpeer.version=${version}`, "-cp", path, "Peer"],
      });
    }
  }
}
await runPeers("Java peer", rows);
