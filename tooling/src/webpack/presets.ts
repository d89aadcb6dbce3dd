/**
 * The shared webpack preset of the host and the remotes, and of what runs in workers. The settings of Module Federation
 * were found by reading its sources and by trials: docs/decisions/0050-webpack-and-module-federation.md says which and why.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { ModuleFederationPlugin } from "@module-federation/enhanced/webpack";
import type { RemoteName } from "@relicario/shared/contract";
import HtmlWebpackPlugin from "html-webpack-plugin";
import MiniCssExtractPlugin from "mini-css-extract-plugin";
import MinimizerPlugin from "minimizer-webpack-plugin";
import webpack, { type Configuration } from "webpack";

import { rootFolder } from "../paths.ts";
import { providedByHost, takenFromHost } from "./shared-packages.ts";
import { readAssetMap } from "./worker-assets.ts";

const require = createRequire(import.meta.url);

/** The entries of remotes, of which every visit loads several. */
const entries = /remoteEntry\.js$/;

/** An import of something that is not exported ends the build. */
const strictExports = { javascript: { exportsPresence: "error" } } as const;

export interface BuildMode {
  /** Production when not said otherwise. */
  readonly mode?: "production" | "development";
}

/** The host: one page, everything shared in it from the start, remotes found at run time only. */
export function hostConfig({ mode = "production" }: BuildMode = {}): Configuration {
  const context = join(rootFolder, "host");
  const shared = common({ name: "host", context, mode });
  return {
    ...shared,
    resolve: { ...shared.resolve, alias: { ...productionRouter(context), ...wholeTranslations(context) } },
    entry: { main: "./src/index.ts" },
    output: {
      path: join(context, "build/web"),
      publicPath: "/",
      // The federation runtime cannot name entries by [contenthash]; the hash of the whole build does as well.
      filename: "static/[name].[fullhash:8].js",
      chunkFilename: "static/[name].[contenthash:8].js",
      assetModuleFilename: "static/[name].[contenthash:8][ext]",
      hashFunction: "sha256",
      uniqueName: "relicario_host",
      crossOriginLoading: "anonymous",
      clean: true,
    },
    module: {
      parser: strictExports,
      rules: [typescript(), { test: /\.css$/, use: [MiniCssExtractPlugin.loader, require.resolve("css-loader")] }],
    },
    plugins: [
      new ModuleFederationPlugin({
        name: "relicario_host",
        // Remotes are registered at run time from the verified deployment document, never here.
        remotes: {},
        shared: providedByHost(),
        // The default loads every remote at start-up, and one dead remote then kills the page.
        shareStrategy: "loaded-first",
        // One runtime for all remotes. Named here, as a module, because `provideExternalRuntime` brings a second copy of it in CommonJS.
        runtimePlugins: [externalRuntime()],
        // Remotes are registered by their entries: nothing reads manifests at run time.
        experiments: { optimization: { disableSnapshot: true, target: "web" } },
        manifest: false,
        dts: false,
      }),
      new MiniCssExtractPlugin({ filename: "static/[name].[contenthash:8].css", chunkFilename: "static/[name].[contenthash:8].css" }),
      new HtmlWebpackPlugin({ template: "./src/index.html", scriptLoading: "defer", minify: mode === "production" }),
    ],
  };
}

/** A remote: one exposed face, nothing shared brought along. */
export function remoteConfig({ name, mode = "production" }: BuildMode & { readonly name: RemoteName }): Configuration {
  const context = join(rootFolder, `remote-${name}`);
  const container = `relicario_${name}`;
  return {
    ...common({ name, context, mode }),
    entry: {},
    output: {
      path: join(context, "build/web"),
      publicPath: "auto",
      // The folder of a release is named by the hash of its files, so its entry needs no hash of its own.
      // Nor do its chunks: a table of their hashes would be a twentieth of the entry.
      filename: "[name].js",
      chunkFilename: "[name].js",
      assetModuleFilename: "[name].[contenthash:8][ext]",
      hashFunction: "sha256",
      uniqueName: container,
      crossOriginLoading: "anonymous",
      strictModuleErrorHandling: true,
      clean: true,
    },
    module: { parser: strictExports, rules: [typescript()] },
    plugins: [
      new ModuleFederationPlugin({
        name: container,
        filename: "remoteEntry.js",
        library: { type: "var", name: container },
        exposes: { "./remote": { import: "./src/remote.tsx", name: "remote" } },
        shared: takenFromHost(),
        shareStrategy: "loaded-first",
        experiments: { externalRuntime: true, optimization: { disableSnapshot: true, target: "web" } },
        manifest: true,
        dts: false,
      }),
      ...(name === "recovery" ? [new webpack.DefinePlugin({ __ASSETS__: webpack.DefinePlugin.runtimeValue(() => JSON.stringify(readAssetMap()), true) })] : []),
    ],
  };
}

/**
 * What runs in recovery's workers: one self-contained file each, without federation. The page fetches a worker's file with
 * its integrity and starts it from a blob address, where there is no base for relative addresses: WASM is handed over compiled.
 */
export function workersConfig({ mode = "production" }: BuildMode = {}): Configuration {
  const context = join(rootFolder, "remote-recovery");
  const shared = common({ name: "workers", context, mode });
  return {
    ...shared,
    target: "webworker",
    // libheif's glue asks for these where it finds itself in Node, and not in a worker.
    resolve: { ...shared.resolve, fallback: { fs: false, path: false, crypto: false } },
    entry: { "vault-worker": "./src/vault/vault.worker.ts", "engine-worker": "./src/engine/engine.worker.ts", "transfer-worker": "./src/vault/transfer.worker.ts" },
    output: {
      path: join(context, "build/workers"),
      publicPath: "",
      filename: "[name].js",
      hashFunction: "sha256",
      uniqueName: "relicario_workers",
      clean: true,
    },
    module: {
      // Decoders name their WASM by `new URL(…, import.meta.url)`; nothing of that is fetched, so nothing is emitted.
      parser: { javascript: { ...strictExports.javascript, url: false, worker: false } },
      rules: [typescript()],
    },
    plugins: [
      new webpack.DefinePlugin({ "import.meta.url": JSON.stringify("https://in-a-worker.invalid/") }),
      new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 }),
    ],
  };
}

function common({ name, context, mode }: { name: string; context: string; mode: "production" | "development" }): Configuration {
  return {
    name,
    mode,
    context,
    target: ["web", "es2022"],
    // Kept apart from what is released: see release/release.ts.
    devtool: mode === "production" ? "hidden-source-map" : "source-map",
    resolve: { extensions: [".ts", ".tsx", ".js"], symlinks: true },
    cache: { type: "filesystem", name: `${name}-${mode}`, cacheDirectory: join(rootFolder, ".cache/webpack"), buildDependencies: { preset: [import.meta.filename, join(rootFolder, "pnpm-lock.yaml")] } },
    optimization: {
      runtimeChunk: false,
      moduleIds: "deterministic",
      chunkIds: "deterministic",
      // A third of the time that terser takes, for the same size; licence comments stay in place (docs/decisions/0050).
      minimizer: [
        new MinimizerPlugin({ exclude: entries, minify: MinimizerPlugin.swcMinify, minimizerOptions: { compress: { passes: 2 }, mangle: true, format: { comments: "some" } }, extractComments: false }),
        // An entry is small, and both together make it smaller by a fortieth.
        new MinimizerPlugin({
          include: entries,
          minify: [MinimizerPlugin.terserMinify, MinimizerPlugin.swcMinify],
          minimizerOptions: [{ ecma: 2020, compress: { passes: 3 } }, { compress: { passes: 2 }, mangle: true }],
          extractComments: false,
        }),
      ],
    },
    // Budgets are kept by size-limit, on compressed sizes.
    performance: false,
    infrastructureLogging: { level: "error" },
    stats: "errors-warnings",
  };
}

/** What gives the host's federation runtime to the remotes. */
function externalRuntime(): string {
  const federation = createRequire(require.resolve("@module-federation/enhanced/webpack"));
  return join(dirname(federation.resolve("@module-federation/inject-external-runtime-core-plugin")), "index.js");
}

/** React Router without its warnings for developers. Its package names only the other build, so the files are named here. */
function productionRouter(context: string): Record<string, string> {
  const files = join(dirname(createRequire(join(context, "package.json")).resolve("react-router")), "../production");
  return { "react-router/dom$": join(files, "dom-export.mjs"), "react-router$": join(files, "index.mjs") };
}

/** The package behind `host/src/singletons/react-i18next.ts`, whose own name leads to that file. */
function wholeTranslations(context: string): Record<string, string> {
  return { "react-i18next-whole$": join(dirname(createRequire(join(context, "package.json")).resolve("react-i18next/package.json")), "dist/es/index.js") };
}

/** Types are checked apart (`pnpm types`), so a build only strips them. */
function typescript(): webpack.RuleSetRule {
  return {
    test: /\.tsx?$/,
    loader: require.resolve("ts-loader"),
    options: {
      transpileOnly: true,
      compilerOptions: { noEmit: false, allowImportingTsExtensions: false, sourceMap: true, target: "ES2022", jsx: "react-jsx" },
    },
  };
}
