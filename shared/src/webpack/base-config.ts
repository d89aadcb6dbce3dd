/**
 * Settings that all builds share. For Module Federation see
 * docs/decisions/0003-shared-packages-are-whole.md.
 */
import { createRequire } from "node:module";

import type { SourceFile, TransformerFactory } from "typescript";
import type { Configuration, RuleSetRule } from "webpack";

const require = createRequire(import.meta.url);

export type BuildMode = "production" | "development";

/** Arguments that webpack passes to a configuration function: `webpack --mode development`. */
export interface BuildArguments {
  readonly mode?: BuildMode | undefined;
  readonly refresh?: RefreshTransformer | undefined;
}

/**
 * TypeScript transformer of React's fast refresh, only for a host in development mode. Replaced
 * code has no signed hash, so a remote that was built with it checks no hashes.
 */
export type RefreshTransformer = TransformerFactory<SourceFile>;

/** Fails the build on an import of a name that the module does not export. */
export const strictExports = { javascript: { exportsPresence: "error" } } as const;

export interface BaseSettings {
  /** Name of this configuration within its package. */
  readonly name: string;
  /** The package's folder. */
  readonly context: string;
  readonly mode: BuildMode;
  readonly refresh?: RefreshTransformer | undefined;
}

/** Settings of target, TypeScript, cache and minimising for every build. */
export function baseConfig({ name, context, mode, refresh }: BaseSettings): Configuration {
  return {
    name,
    mode,
    context,
    target: ["web", "es2022"],
    // Source maps are not published with releases.
    devtool: mode === "production" ? "hidden-source-map" : "source-map",
    resolve: { extensions: [".ts", ".tsx", ".js"], symlinks: true },
    module: { parser: strictExports, rules: [typescriptRule(refresh)] },
    // Production builds use no cache: with webpack's disk cache, a second build omits names that
    // are re-exported by `export * from` a shared package.
    cache: mode === "production" ? false : { type: "memory" },
    // "deterministic" module ids are hashes of module names. Federation's module names contain the
    // folder's path, so those ids would depend on the folder.
    optimization: { runtimeChunk: false, moduleIds: "natural", chunkIds: "deterministic" },
    performance: false, // size-limit checks budgets, on compressed sizes
    infrastructureLogging: { level: "error" },
    stats: "errors-warnings",
  };
}

/** Rule that only strips types; `tsc` checks them. */
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
