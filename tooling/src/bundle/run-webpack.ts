import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type { BuildArguments } from "@relicario/shared/webpack";
import webpack, { type Configuration, type MultiStats } from "webpack";
import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { getPackageFolder, type BuildTarget } from "./packages.ts";

/** Loads the webpack configurations of a package, as its own `webpack` command does. */
export function loadConfigs(name: BuildTarget, options: BuildArguments): Promise<Configuration[]> {
  return loadConfigsFrom(join(rootFolder, getPackageFolder(name)), options);
}

export async function loadConfigsFrom(folder: string, options: BuildArguments): Promise<Configuration[]> {
  // Remotes outside this repository have plain JavaScript, which older versions of Node run too.
  const config = ["webpack.config.ts", "webpack.config.mjs"]
    .map((name) => join(folder, name))
    .find((file) => existsSync(file));
  if (config === undefined) throw new Error(`${folder} has no webpack.config.ts, and no webpack.config.mjs`);
  const configModule: unknown = await import(pathToFileURL(config).href);
  const { default: configure } = z
    .object({
      default: z.custom<(environment: unknown, options: BuildArguments) => Configuration | Configuration[]>(
        (value) => typeof value === "function",
      ),
    })
    .parse(configModule);
  return [configure({}, options)].flat();
}

/** @throws Error with webpack's errors and warnings */
export function runWebpack(configs: Configuration[]): Promise<void> {
  const compiler = webpack(configs);
  return new Promise((resolve, reject) => {
    compiler.run((error, stats) => {
      const failure = describeFailure(error, stats);
      // Closing writes the cache.
      compiler.close((closeError) => {
        if (failure !== null) reject(new Error(failure));
        else if (closeError) reject(closeError);
        else resolve();
      });
    });
  });
}

/** Errors and warnings of a build; null when there are none. */
export function describeFailure(error: Error | null, stats: MultiStats | undefined): string | null {
  if (error !== null) return error.stack ?? error.message;
  if (stats === undefined || !(stats.hasErrors() || stats.hasWarnings())) return null;
  // A warning, such as a missing export, is a bug of ours.
  return stats.toString({ preset: "errors-warnings", colors: process.stderr.isTTY });
}
