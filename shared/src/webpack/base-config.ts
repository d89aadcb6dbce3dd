/**
 * What all builds have in common. The settings of Module Federation and why they are so:
 * docs/decisions/0050.
 */
import { createRequire } from "node:module";

import type { SourceFile, TransformerFactory } from "typescript";
import type { Configuration, RuleSetRule } from "webpack";

const require = createRequire(import.meta.url);

export type BuildMode = "production" | "development";

/** What webpack gives to a configuration that is a function: `webpack --mode development`. */
export interface BuildArguments {
  readonly mode?: BuildMode | undefined;
  readonly refresh?: RefreshTransformer | undefined;
}

/**
 * Makes components replaceable while the page runs (React's refresh), for a host in development
 * mode alone: what replaces them has no signed hash, so a remote that is built with this asks for
 * none.
 */
export type RefreshTransformer = TransformerFactory<SourceFile>;

/** An import of something that is not exported ends the build. */
export const strictExports = { javascript: { exportsPresence: "error" } } as const;

export interface BaseSettings {
  /** Of this configuration among those of its package. */
  readonly name: string;
  /** The package's folder. */
  readonly context: string;
  readonly mode: BuildMode;
  readonly refresh?: RefreshTransformer | undefined;
}

/** Target, TypeScript, cache and minimising, the same for every build. */
export function baseConfig({ name, context, mode, refresh }: BaseSettings): Configuration {
  return {
    name,
    mode,
    context,
    target: ["web", "es2022"],
    // Kept apart from what is released.
    devtool: mode === "production" ? "hidden-source-map" : "source-map",
    resolve: { extensions: [".ts", ".tsx", ".js"], symlinks: true },
    module: { parser: strictExports, rules: [typescriptRule(refresh)] },
    // What is released is built from nothing: with webpack's cache on disk a second build left out
    // what a module gives on by `export * from` a shared package.
    cache: mode === "production" ? false : { type: "memory" },
    // "deterministic" numbers modules by hashes of their names, and federation's have the folder's
    // path in them.
    optimization: { runtimeChunk: false, moduleIds: "natural", chunkIds: "deterministic" },
    performance: false, // budgets are kept by size-limit, on compressed sizes
    infrastructureLogging: { level: "error" },
    stats: "errors-warnings",
  };
}

/** Types are checked apart (`tsc`), so a build only strips them. */
export function typescriptRule(refresh?: RefreshTransformer): RuleSetRule {
  return {
    test: /\.tsx?$/,
    loader: require.resolve("ts-loader"),
    options: {
      transpileOnly: true,
      compilerOptions: {
        noEmit: false,
        allowImportingTsExtensions: false,
        sourceMap: true,
        target: "ES2022",
        jsx: "react-jsx",
      },
      ...(refresh !== undefined && { getCustomTransformers: () => ({ before: [refresh] }) }),
    },
  };
}
