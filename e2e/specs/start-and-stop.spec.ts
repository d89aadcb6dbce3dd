import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { expect, test } from "@playwright/test";

const root = path.join(import.meta.dirname, "../..");

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // no such process
  }
}

test("Ctrl-C while everything is starting leaves no process and no lock behind", async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), "start-"));
  try {
    const child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", path.join(root, "tooling/src/start/start.ts")],
      {
        env: { ...process.env, PORT: "0", DATA_DIR: dataDir },
        stdio: ["ignore", "inherit", "inherit"],
      },
    );
    const exitEvent = once(child, "exit");
    const pidFile = path.join(dataDir, "database/cluster/postmaster.pid");
    await expect.poll(() => existsSync(pidFile), { timeout: 90_000, intervals: [20] }).toBe(true);
    const databasePid = Number(readFileSync(pidFile, "utf8").split("\n")[0]);
    expect(isAlive(databasePid)).toBe(true);

    child.kill("SIGINT");
    await exitEvent;
    expect(isAlive(databasePid)).toBe(false);
    expect(existsSync(path.join(dataDir, "running.lock"))).toBe(false);
  } finally {
    await rm(dataDir, { recursive: true });
  }
});
