import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { loadTeamKeyPair } from "../keys/development-keys.ts";
import { rootFolder } from "../paths.ts";
import { findCurrentRelease } from "../release/release.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { waitForLock } from "../keys/lock.ts";
import { computeFingerprint } from "./fingerprint.ts";
import { buildables, getPackageFolder, type Buildable } from "./packages.ts";

const endWithParent = join(rootFolder, "tooling/src/start/end-with-parent.mjs");

/** Builds the packages whose sources changed since they were built, two at a time. */
export async function ensureBuilt(
  log: (line: string) => void,
  names: readonly Buildable[] = buildables,
): Promise<void> {
  const releaseLock = await waitForLock(join(rootFolder, ".cache/build.lock"));
  try {
    const stale: Buildable[] = [];
    for (const name of names) if (!(await isUpToDate(name))) stale.push(name);
    if (stale.length === 0) return;
    log(`Building ${stale.join(", ")}.`);
    const queue = [...stale];
    const worker = async (): Promise<void> => {
      for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
        const startedAt = performance.now();
        await buildInProcess(name);
        log(`  ${name} built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
      }
    };
    const failure = (await Promise.allSettled([worker(), worker()])).find((result) => result.status === "rejected");
    if (failure !== undefined) throw failure.reason;
  } finally {
    releaseLock();
  }
}

async function isUpToDate(name: Buildable): Promise<boolean> {
  const folder = join(rootFolder, getPackageFolder(name));
  const stampFile = join(folder, "build/stamp");
  if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== computeFingerprint(name)) return false;
  if (name === "host") return existsSync(join(folder, "dist/index.html"));
  return (await findCurrentRelease(folder, await loadTeamKeyPair(name))) !== null;
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
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) resolve();
      else
        reject(
          new UserFacingError(
            `${name} could not be built (${code === null ? `ended by ${String(signal)}` : `exit code ${String(code)}`}):\n${output.trim()}`,
          ),
        );
    });
  });
}
