/**
 * The same sources as one plain webpack application, which the benchmark of the portal compares it
 * with.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { sharedModules } from "@relicario/shared/webpack";
import webpack, { type Compiler, type Configuration } from "webpack";
import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { remoteNames } from "../remotes.ts";
import { assembleHost } from "./host-files.ts";
import { loadConfigs, runWebpack } from "./run-webpack.ts";

export interface MonolithSettings {
  /**
   * What of the packages that host and remotes share is in it: what is used, or all that the host
   * gives.
   */
  readonly packages: "used" | "whole";
  /** Where it is put, in place of `host/dist`; made anew. */
  readonly target: string;
}

const AssetsModule = z.object({
  AssetsPlugin: z.custom<new () => { apply(compiler: Compiler): void }>((value) => typeof value === "function"),
});

/**
 * Builds host and remotes as one application: no federation, routes by `import()`, unused code left
 * out as webpack does. The workers have to be built.
 */
export async function buildMonolith({ packages, target }: MonolithSettings): Promise<void> {
  const [host] = await loadConfigs("host", { mode: "production" });
  if (host === undefined) throw new TypeError("the host has no configuration");
  const workFolder = join(rootFolder, ".cache/monolith", packages);
  for (const folder of [workFolder, target]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(workFolder, { recursive: true });
  const { AssetsPlugin } = AssetsModule.parse(
    await import(pathToFileURL(join(rootFolder, "remote-recovery/webpack/assets-plugin.ts")).href),
  );
  const application: Configuration = {
    ...host,
    entry: { main: [...(packages === "whole" ? [writeWholePackagesEntry(workFolder)] : []), "./src/index.ts"] },
    resolve: { ...host.resolve, modules: [join(rootFolder, "host/node_modules"), "node_modules"] },
    output: { ...host.output, path: join(workFolder, "web"), uniqueName: "relicario_one" },
    plugins: [
      ...(host.plugins ?? []).filter(
        (plugin) => typeof plugin !== "object" || plugin?.constructor.name !== "ModuleFederationPlugin",
      ),
      new webpack.NormalModuleReplacementPlugin(/\/remotes\/federation\.ts$/, writeLazyRemotes(workFolder)),
      new webpack.NormalModuleReplacementPlugin(/\/remotes\/preload\.ts$/, writePreloadStub(workFolder)),
      new AssetsPlugin(),
    ],
  };
  await runWebpack([application]);
  await assembleHost(join(workFolder, "web"), target);
}

/** Writes a module that keeps every name of the shared packages, though nothing of it ever runs. */
function writeWholePackagesEntry(folder: string): string {
  const file = join(folder, "whole-packages.js");
  // These two the host gives without some of their names.
  const resolveModulePath = (name: string): string =>
    ["zod", "react-router-dom"].includes(name) ? join(rootFolder, "host/src/shared-packages", `${name}.ts`) : name;
  const imports = Object.keys(sharedModules).map((name) => `import(${JSON.stringify(resolveModulePath(name))})`);
  writeFileSync(file, `globalThis.wholePackages = () => [${imports.join(", ")}];\n`);
  return file;
}

/**
 * Writes what takes the place of host/src/remotes/preload.ts: releases are not run, so nothing of
 * them is asked for.
 */
function writePreloadStub(folder: string): string {
  const file = join(folder, "preload.js");
  writeFileSync(file, "export function preloadArea() {}\n");
  return file;
}

/**
 * Writes what takes the place of host/src/remotes/federation.ts: each remote a lazy part of the
 * application. Its texts still lie with its release.
 */
function writeLazyRemotes(folder: string): string {
  const file = join(folder, "federation.js");
  const loaders = remoteNames.map(
    (name) => `  ${name}: () => import(${JSON.stringify(join(rootFolder, `remote-${name}/src/remote.tsx`))}),\n`,
  );
  writeFileSync(
    file,
    `const parts = {\n${loaders.join("")}};
export function registerReleases() {}
export const loadModule = async (name) => (await parts[name]()).default;
`,
  );
  return file;
}
