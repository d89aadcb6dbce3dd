/**
 * The shared webpack preset of the host and the remotes, and of what runs in workers. The settings of Module Federation
 * were found by reading its sources and by trials: docs/decisions/0050-one-webpack-preset-and-federation-settings.md says which and why.
 */
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { ModuleFederationPlugin } from "@module-federation/enhanced/webpack";
import type { RemoteName } from "@relicario/shared/contract";
import HtmlWebpackPlugin from "html-webpack-plugin";
import MiniCssExtractPlugin from "mini-css-extract-plugin";
import MinimizerPlugin from "minimizer-webpack-plugin";
import webpack, { type Configuration } from "webpack";

import { rootFolder } from "../paths.ts";
import { leftOut } from "./in-place/left-out.mjs";
import { providedByHost, takenFromHost } from "./shared-packages.ts";
import { readAssetMap } from "./worker-assets.ts";
import { calledMethods } from "./zod-methods.ts";

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
    resolve: { ...shared.resolve, alias: { ...productionRouter(context), ...wholePackages(context), ...containerEntry() } },
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
      rules: [
        typescript(),
        { test: /\/node_modules\/zod\/v4\/classic\/schemas\.js$/, loader: join(inPlaceFolder, "called-methods.mjs"), options: { called: calledMethods() } },
        { include: leftOutFiles, loader: join(inPlaceFolder, "left-out.mjs") },
        // Names what is left out.
        { test: /\/node_modules\/(zod\/v4|@module-federation\/runtime-core\/dist)\//, parser: { exportsPresence: false } },
        { test: /\.css$/, use: [MiniCssExtractPlugin.loader, require.resolve("css-loader")] },
      ],
    },
    plugins: [
      ...inPlaceOf({
        "zod/v4/(core/(json-schema-processors|to-json-schema|memoizer)|locales/en)\\.js": "no-json-schema.mjs",
        "@module-federation/runtime-core/dist/(plugins/snapshot/SnapshotHandler|utils/preload)\\.js": "no-snapshots.mjs",
        "@module-federation/webpack-bundler-runtime/dist/(remotes|getSharedFallbackGetter)\\.js": "no-static-remotes.mjs",
        "@module-federation/error-codes/dist/desc\\.mjs": "no-words.mjs",
        "@tanstack/query-core/build/modern/infiniteQueryBehavior\\.js": "no-endless-pages.mjs",
        "stylis/src/Prefixer\\.js": "no-prefixes.mjs",
      }),
      new ModuleFederationPlugin({
        name: "relicario_host",
        // Remotes are registered at run time from the verified deployment document, never here.
        remotes: {},
        shared: providedByHost(),
        // The default loads every remote at start-up, and one dead remote then kills the page.
        shareStrategy: "loaded-first",
        // One runtime for all remotes. Named here, as a module, because `provideExternalRuntime` brings a second copy of it in CommonJS.
        runtimePlugins: [externalRuntime(), join(inPlaceFolder, "give-federation.mjs")],
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
      // What throws while it starts, because code of the host did not come, starts anew when somebody tries again.
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- its successor throws the first error for ever
      strictModuleExceptionHandling: true,
      clean: true,
    },
    module: { parser: strictExports, rules: [typescript()] },
    plugins: [
      ...inPlaceOf({
        "@module-federation/webpack-bundler-runtime/dist/(bundler|index)\\.js": "take-federation.mjs",
        "lucide-react/dist/esm/createLucideIcon\\.mjs": "icons.mjs",
      }),
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
    cache: { type: "filesystem", name: `${name}-${mode}`, version: presetVersion(), cacheDirectory: join(rootFolder, ".cache/webpack"), buildDependencies: { preset: [import.meta.filename, join(rootFolder, "pnpm-lock.yaml")] } },
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

const inPlaceFolder = join(import.meta.dirname, "in-place");

/** The files of which left-out.mjs leaves parts out. */
function leftOutFiles(path: string): boolean {
  return Object.keys(leftOut).some((file) => path.replaceAll("\\", "/").endsWith(`/node_modules/${file}`));
}

/** Puts a module of ours in the place of those of a package, by the end of their path. */
function inPlaceOf(modules: Readonly<Record<string, string>>): webpack.NormalModuleReplacementPlugin[] {
  return Object.entries(modules).map(
    ([of, module]) =>
      new webpack.NormalModuleReplacementPlugin(new RegExp(`/node_modules/${of}$`), (data) => {
        const resource = join(inPlaceFolder, module);
        Object.assign(data.createData, { resource, request: resource, userRequest: resource });
      }),
  );
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

/** The packages behind modules of `host/src/singletons`, whose own names lead to those. */
function wholePackages(context: string): Record<string, string> {
  const folder = (name: string) => dirname(createRequire(join(context, "package.json")).resolve(`${name}/package.json`));
  return {
    "i18next-whole$": join(folder("i18next"), "dist/esm/i18next.js"),
    "react-i18next-whole$": join(folder("react-i18next"), "dist/es/index.js"),
    "react-query-whole$": join(folder("@tanstack/react-query"), "build/modern/index.js"),
    "styled-components-whole$": join(folder("styled-components"), "dist/styled-components.browser.esm.js"),
  };
}

/** How an entry meets the host's runtime. The host has no entry, so the plugin leaves it out there. */
function containerEntry(): Record<string, string> {
  const federation = createRequire(require.resolve("@module-federation/enhanced/webpack"));
  return { "federation-container-entry$": join(dirname(federation.resolve("@module-federation/webpack-bundler-runtime")), "initContainerEntry.js") };
}

/** Changes with every file of this folder: what a module is built to depends on rules and stand-ins that webpack's cache does not look at. */
function presetVersion(): string {
  const hash = createHash("sha256");
  for (const file of globSync("**/*.{ts,mjs}", { cwd: import.meta.dirname }).toSorted()) hash.update(readFileSync(join(import.meta.dirname, file)));
  return hash.digest("hex");
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
