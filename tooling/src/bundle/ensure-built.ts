import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { loadTeamKeyPair } from "../keys/signing-keys.ts";
import { rootFolder } from "../paths.ts";
import { findCurrentRelease } from "../release/release.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { waitForLock } from "../keys/lock.ts";
import { computeFingerprint } from "./fingerprint.ts";
import { buildTargets, getPackageFolder, type BuildTarget } from "./packages.ts";

const endWithParent = join(rootFolder, "tooling/src/start/end-with-parent.mjs");

/** Builds outdated packages, two at a time. */
export async function ensureBuilt(
  log: (line: string) => void,
  names: readonly BuildTarget[] = buildTargets,
): Promise<void> {
  const releaseLock = await waitForLock(join(rootFolder, ".cache/build.lock"));
  try {
    const staleTargets: BuildTarget[] = [];
    for (const name of names) if (!(await isUpToDate(name))) staleTargets.push(name);
    if (staleTargets.length === 0) return;
    log(`Building ${staleTargets.join(", ")}.`);
    const queue = [...staleTargets];
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

async function isUpToDate(name: BuildTarget): Promise<boolean> {
  const folder = join(rootFolder, getPackageFolder(name));
  const stampFile = join(folder, "build/stamp");
  if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== computeFingerprint(name)) return false;
  if (name === "host") return existsSync(join(folder, "dist/index.html"));
  return (await findCurrentRelease(folder, await loadTeamKeyPair(name))) !== null;
}

/** Builds in its own process, which frees its memory and lets two builds run at once. */
function buildInProcess(name: BuildTarget): Promise<void> {
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
