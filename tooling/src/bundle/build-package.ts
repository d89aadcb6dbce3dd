/** Builds one package in a process of its own: `node build-package.ts <host, or the name of a remote> [--watch]`. */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type { BuildArguments, Mode } from "@relicario/shared/webpack";
import webpack, { type Configuration, type MultiStats } from "webpack";
import { z } from "zod";

import { teamKey } from "../keys/development-keys.ts";
import { rootFolder } from "../paths.ts";
import { compressFolder } from "../release/compress.ts";
import { copyBillOfMaterials, writeBillOfMaterials } from "../release/bill-of-materials.ts";
import { makeRelease } from "../release/release.ts";
import { fingerprint } from "./fingerprint.ts";
import { nameHostFiles } from "./host-files.ts";
import { buildables, folderOf, isBuildable, type Buildable } from "./packages.ts";

/** Builds a package and puts the result where it is served from: a release of a remote, or `host/dist`. */
async function build(name: Buildable): Promise<void> {
  const stamp = fingerprint(name);
  await run(await configsOf(name, "production"));
  await writeBillOfMaterials(join(rootFolder, folderOf(name)));
  await publish(name);
  // Written last: a build that was cut short is done again.
  writeFileSync(join(rootFolder, folderOf(name), "build/stamp"), stamp);
}

/** Builds again after each change; tells `parent` (by IPC) when something new is there to be served. */
async function watch(name: Buildable): Promise<void> {
  // What is in place from now on is a development build: the next start has to build again.
  rmSync(join(rootFolder, folderOf(name), "build/stamp"), { force: true });
  const publishing = { last: Promise.resolve() };
  const settled = (after: () => Promise<void>) => (error: Error | null, stats?: MultiStats) => {
    const failure = failureOf(error, stats);
    if (failure !== null) {
      console.error(failure);
      return;
    }
    publishing.last = publishing.last.then(after).then(
      () => {
        process.send?.({ built: name });
      },
      (reason: unknown) => {
        console.error(reason);
      },
    );
  };
  webpack(await configsOf(name, "development")).watch({}, settled(() => publish(name)));
}

async function publish(name: Buildable): Promise<void> {
  const packageFolder = join(rootFolder, folderOf(name));
  const webFolder = join(packageFolder, "build/web");
  if (name !== "host") {
    await makeRelease({ remote: name, packageFolder, webFolder, key: await teamKey(name) });
    return;
  }
  const part = join(packageFolder, "build/dist.part");
  const dist = join(packageFolder, "dist");
  const old = join(packageFolder, "build/dist.old");
  for (const folder of [part, old]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  cpSync(webFolder, part, { recursive: true, filter: (source) => !source.endsWith(".map") });
  for (const [from, to] of [["public", "."], ["src/locales", "locales"]] as const) {
    if (existsSync(join(packageFolder, from))) cpSync(join(packageFolder, from), join(part, to), { recursive: true, filter: (source) => !source.includes(".test.") });
  }
  copyBillOfMaterials(packageFolder, part);
  nameHostFiles(part);
  await compressFolder(part);
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(part, dist);
  rmSync(old, { recursive: true, force: true });
}

/** What `webpack` alone would build in the package's folder. */
async function configsOf(name: Buildable, mode: Mode): Promise<Configuration[]> {
  const file: unknown = await import(pathToFileURL(join(rootFolder, folderOf(name), "webpack.config.ts")).href);
  const { default: config } = z.object({ default: z.custom<(environment: unknown, options: BuildArguments) => Configuration | Configuration[]>((value) => typeof value === "function") }).parse(file);
  return [config({}, { mode })].flat();
}

function run(configs: Configuration[]): Promise<void> {
  const compiler = webpack(configs);
  return new Promise((resolve, reject) => {
    compiler.run((error, stats) => {
      const failure = failureOf(error, stats);
      // Closing writes the cache.
      compiler.close((closing) => {
        if (failure !== null) reject(new Error(failure));
        else if (closing) reject(closing);
        else resolve();
      });
    });
  });
}

function failureOf(error: Error | null, stats: MultiStats | undefined): string | null {
  if (error !== null) return error.stack ?? error.message;
  if (stats === undefined || !(stats.hasErrors() || stats.hasWarnings())) return null;
  // A warning of the bundler (an export that is not there, say) is a fault of ours.
  return stats.toString({ preset: "errors-warnings", colors: process.stderr.isTTY });
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
