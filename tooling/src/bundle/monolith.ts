/** Builds the same sources as one webpack application, for the portal's benchmark. */
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
  /** Bundles used exports only, or all that the host shares. */
  readonly sharedPackages: "used" | "whole";
  /** Output folder, in place of `host/dist`; emptied first. */
  readonly targetFolder: string;
}

const AssetsModule = z.object({
  AssetsPlugin: z.custom<new () => { apply(compiler: Compiler): void }>((value) => typeof value === "function"),
});

/** Builds host and remotes without federation. The workers must be built before. */
export async function buildMonolith({ sharedPackages, targetFolder }: MonolithSettings): Promise<void> {
  const [host] = await loadConfigs("host", { mode: "production" });
  if (host === undefined) throw new TypeError("the host has no configuration");
  const workFolder = join(rootFolder, ".cache/monolith", sharedPackages);
  for (const folder of [workFolder, targetFolder]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(workFolder, { recursive: true });
  const { AssetsPlugin } = AssetsModule.parse(
    await import(pathToFileURL(join(rootFolder, "remote-recovery/webpack/assets-plugin.ts")).href),
  );
  const application: Configuration = {
    ...host,
    entry: { main: [...(sharedPackages === "whole" ? [writeWholePackagesEntry(workFolder)] : []), "./src/index.ts"] },
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
  await assembleHost(join(workFolder, "web"), targetFolder);
}

/** Writes an entry that keeps every export of the shared packages. */
function writeWholePackagesEntry(folder: string): string {
  const file = join(folder, "whole-packages.js");
  const imports = Object.keys(sharedModules).map((name) => `import(${JSON.stringify(name)})`);
  writeFileSync(file, `globalThis.wholePackages = () => [${imports.join(", ")}];\n`);
  return file;
}

/** Replaces host/src/remotes/preload.ts: there are no releases to preload. */
function writePreloadStub(folder: string): string {
  const file = join(folder, "preload.js");
  writeFileSync(file, "export function preloadArea() {}\n");
  return file;
}

/**
 * Replaces host/src/remotes/federation.ts: remotes are lazy chunks. Texts still come from releases.
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
