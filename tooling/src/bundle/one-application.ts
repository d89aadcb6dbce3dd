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
import { configsOf, run } from "./run-webpack.ts";

export interface OneApplicationSettings {
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
export async function buildOneApplication({ packages, target }: OneApplicationSettings): Promise<void> {
  const [host] = await configsOf("host", { mode: "production" });
  if (host === undefined) throw new TypeError("the host has no configuration");
  const work = join(rootFolder, ".cache/one-application", packages);
  for (const folder of [work, target]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const { AssetsPlugin } = AssetsModule.parse(
    await import(pathToFileURL(join(rootFolder, "remote-recovery/webpack/assets.ts")).href),
  );
  const application: Configuration = {
    ...host,
    entry: { main: [...(packages === "whole" ? [wholePackages(work)] : []), "./src/index.ts"] },
    resolve: { ...host.resolve, modules: [join(rootFolder, "host/node_modules"), "node_modules"] },
    output: { ...host.output, path: join(work, "web"), uniqueName: "relicario_one" },
    plugins: [
      ...(host.plugins ?? []).filter(
        (plugin) => typeof plugin !== "object" || plugin?.constructor.name !== "ModuleFederationPlugin",
      ),
      new webpack.NormalModuleReplacementPlugin(/\/remotes\/federation\.ts$/, lazyRemotes(work)),
      new webpack.NormalModuleReplacementPlugin(/\/remotes\/preload\.ts$/, nothingAhead(work)),
      new AssetsPlugin(),
    ],
  };
  await run([application]);
  await assembleHost(join(work, "web"), target);
}

/** Writes a module that keeps every name of the shared packages, though nothing of it ever runs. */
function wholePackages(folder: string): string {
  const file = join(folder, "whole-packages.js");
  // These two the host gives without some of their names.
  const given = (name: string): string =>
    ["zod", "react-router-dom"].includes(name) ? join(rootFolder, "host/src/shared-packages", `${name}.ts`) : name;
  const imports = Object.keys(sharedModules).map((name) => `import(${JSON.stringify(given(name))})`);
  writeFileSync(file, `globalThis.wholePackages = () => [${imports.join(", ")}];\n`);
  return file;
}

/**
 * Writes what takes the place of host/src/remotes/preload.ts: releases are not run, so nothing of
 * them is asked for.
 */
function nothingAhead(folder: string): string {
  const file = join(folder, "preload.js");
  writeFileSync(file, "export function preloadArea() {}\n");
  return file;
}

/**
 * Writes what takes the place of host/src/remotes/federation.ts: each remote a lazy part of the
 * application. Its texts still lie with its release.
 */
function lazyRemotes(folder: string): string {
  const file = join(folder, "federation.js");
  const parts = remoteNames.map(
    (name) => `  ${name}: () => import(${JSON.stringify(join(rootFolder, `remote-${name}/src/remote.tsx`))}),\n`,
  );
  writeFileSync(
    file,
    `const parts = {\n${parts.join("")}};
export const releaseAddress = (origin, { manifest, release }) => \`\${origin}/r/\${manifest.name}/\${release}/\`;
export function registerVerified() {}
export const loadModule = async (name) => (await parts[name]()).default;
`,
  );
  return file;
}
