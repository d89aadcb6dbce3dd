import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { teamKey } from "../keys/development-keys.ts";
import { rootFolder } from "../paths.ts";
import { presentRelease } from "../release/release.ts";
import { Complaint } from "../start/complaint.ts";
import { waitForLock } from "../start/lock.ts";
import { fingerprint } from "./fingerprint.ts";
import { buildables, folderOf, type Buildable } from "./packages.ts";

const endWithParent = join(rootFolder, "tooling/src/start/end-with-parent.mjs");

/** Builds the packages whose sources changed since they were built, two at a time. */
export async function ensureBuilt(
  log: (line: string) => void,
  names: readonly Buildable[] = buildables,
): Promise<void> {
  const release = await waitForLock(join(rootFolder, ".cache/build.lock"));
  try {
    const stale: Buildable[] = [];
    for (const name of names) if (!(await isBuilt(name))) stale.push(name);
    if (stale.length === 0) return;
    log(`Building ${stale.join(", ")}.`);
    const waiting = [...stale];
    const worker = async (): Promise<void> => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const began = performance.now();
        await buildInProcess(name);
        log(`  ${name} built in ${((performance.now() - began) / 1000).toFixed(1)} s`);
      }
    };
    const failed = (await Promise.allSettled([worker(), worker()])).find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  } finally {
    release();
  }
}

async function isBuilt(name: Buildable): Promise<boolean> {
  const folder = join(rootFolder, folderOf(name));
  const stamp = join(folder, "build/stamp");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== fingerprint(name)) return false;
  if (name === "host") return existsSync(join(folder, "dist/index.html"));
  return (await presentRelease(folder, await teamKey(name))) !== null;
}

/** Each in a process of its own: memory is given back, and two run at once. */
function buildInProcess(name: Buildable): Promise<void> {
  const args = [
    "--disable-warning=ExperimentalWarning",
    "--import",
    endWithParent,
    join(import.meta.dirname, "build-package.ts"),
    name,
  ];
  const child = spawn(process.execPath, args, { cwd: rootFolder, stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      said += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) resolve();
      else
        reject(
          new Complaint(
            `${name} could not be built (${code === null ? `ended by ${String(signal)}` : `exit code ${String(code)}`}):\n${said.trim()}`,
          ),
        );
    });
  });
}
