/** Builds one package in its own process: `node build-package.ts <host or remote> [--watch]`. */
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import webpack, { type MultiStats } from "webpack";

import { loadTeamKeyPair } from "../keys/signing-keys.ts";
import { rootFolder } from "../paths.ts";
import { writeBillOfMaterials } from "../release/bill-of-materials.ts";
import { makeRelease } from "../release/release.ts";
import { computeFingerprint } from "./fingerprint.ts";
import { assembleHost } from "./host-files.ts";
import { buildTargets, getPackageFolder, isBuildTarget, type BuildTarget } from "./packages.ts";
import { loadConfigs, describeFailure, runWebpack } from "./run-webpack.ts";

/** Builds a release of a remote, or `host/dist`. */
async function build(name: BuildTarget): Promise<void> {
  const stamp = computeFingerprint(name);
  await runWebpack(await loadConfigs(name, { mode: "production" }));
  await writeBillOfMaterials(join(rootFolder, getPackageFolder(name)));
  await publish(name);
  // Written last, so that an interrupted build is repeated.
  writeFileSync(join(rootFolder, getPackageFolder(name), "build/stamp"), stamp);
}

/**
 * Rebuilds after each change, and notifies the parent process (IPC) when the result can be served.
 */
async function watch(name: BuildTarget): Promise<void> {
  // Makes the next start replace this development build.
  rmSync(join(rootFolder, getPackageFolder(name), "build/stamp"), { force: true });
  const publishQueue = { last: Promise.resolve() };
  const onBuilt = (publishBuild: () => Promise<void>) => (error: Error | null, stats?: MultiStats) => {
    const failure = describeFailure(error, stats);
    if (failure !== null) {
      console.error(failure);
      return;
    }
    publishQueue.last = publishQueue.last.then(publishBuild).then(
      () => {
        process.send?.({ built: name });
      },
      (reason: unknown) => {
        console.error(reason);
      },
    );
  };
  webpack(await loadConfigs(name, { mode: "development" })).watch(
    {},
    onBuilt(() => publish(name)),
  );
}

async function publish(name: BuildTarget): Promise<void> {
  const packageFolder = join(rootFolder, getPackageFolder(name));
  const webFolder = join(packageFolder, "build/web");
  if (name !== "host") {
    await makeRelease({ remote: name, packageFolder, webFolder, keyPair: await loadTeamKeyPair(name) });
    return;
  }
  const stagingFolder = join(packageFolder, "build/dist.part");
  const dist = join(packageFolder, "dist");
  const previousDist = join(packageFolder, "build/dist.old");
  for (const folder of [stagingFolder, previousDist]) rmSync(folder, { recursive: true, force: true });
  await assembleHost(webFolder, stagingFolder);
  if (existsSync(dist)) renameSync(dist, previousDist);
  renameSync(stagingFolder, dist);
  rmSync(previousDist, { recursive: true, force: true });
}

const [name, flag] = process.argv.slice(2);
if (!isBuildTarget(name)) {
  console.error(`Name what to build: ${buildTargets.join(", ")}.`);
  process.exitCode = 2;
} else {
  // Federation's manifest lists only shared packages that resolve from the working folder.
  process.chdir(join(rootFolder, getPackageFolder(name)));
  await (flag === "--watch" ? watch(name) : build(name)).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
