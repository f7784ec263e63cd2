// Runs rmcp, the official Rust SDK, against parley, in both roles and over stdio and
// HTTP. See ../README.md.

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { runPeers } from "../lib/peer.mjs";

const peer = resolve(fileURLToPath(import.meta.url), "../../../.tmp/interop-rust/debug/peer");

const rows = [];
for (const revision of ["2025-11-25", "2026-07-28"]) {
  for (const role of ["client", "server"]) {
    for (const way of ["stdio", "http"]) {
      const name = `rmcp 3.11.0 ${role} ${way}`.padEnd(25) + revision;
      // Its servers speak both: parley is told which to use.
      const pin = role === "server" && ["--revision", revision];
      rows.push({ name, role, way, revision, pin, hears: true, needs: peer, command: [peer] });
    }
  }
}
await runPeers("Rust peer", rows);
