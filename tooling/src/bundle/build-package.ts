/**
 * Builds one package in a process of its own: `node build-package.ts <host, or the name of a
 * remote> [--watch]`.
 */
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import webpack, { type MultiStats } from "webpack";

import { loadTeamKeyPair } from "../keys/development-keys.ts";
import { rootFolder } from "../paths.ts";
import { writeBillOfMaterials } from "../release/bill-of-materials.ts";
import { makeRelease } from "../release/release.ts";
import { computeFingerprint } from "./fingerprint.ts";
import { assembleHost } from "./host-files.ts";
import { buildables, getPackageFolder, isBuildable, type Buildable } from "./packages.ts";
import { loadConfigs, describeFailure, runWebpack } from "./run-webpack.ts";

/**
 * Builds a package and puts the result where it is served from: a release of a remote, or
 * `host/dist`.
 */
async function build(name: Buildable): Promise<void> {
  const stamp = computeFingerprint(name);
  await runWebpack(await loadConfigs(name, { mode: "production" }));
  await writeBillOfMaterials(join(rootFolder, getPackageFolder(name)));
  await publish(name);
  // Written last: a build that was cut short is done again.
  writeFileSync(join(rootFolder, getPackageFolder(name), "build/stamp"), stamp);
}

/**
 * Builds again after each change; tells `parent` (by IPC) when something new is there to be served.
 */
async function watch(name: Buildable): Promise<void> {
  // What is in place from now on is a development build: the next start has to build again.
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

async function publish(name: Buildable): Promise<void> {
  const packageFolder = join(rootFolder, getPackageFolder(name));
  const webFolder = join(packageFolder, "build/web");
  if (name !== "host") {
    await makeRelease({ remote: name, packageFolder, webFolder, key: await loadTeamKeyPair(name) });
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
if (!isBuildable(name)) {
  console.error(`Say what to build: ${buildables.join(", ")}.`);
  process.exitCode = 2;
} else if (flag === "--watch") {
  await watch(name);
} else {
  await build(name).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
