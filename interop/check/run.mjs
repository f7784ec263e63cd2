// The part of run.sh that every change can wait for.
import { spawnSync } from "node:child_process";

const script = new URL("run.sh", import.meta.url).pathname;
process.exitCode = spawnSync(script, ["--quick", "--role", "server", "--transport", "http", "--expected"], { stdio: "inherit" }).status ?? 1;
