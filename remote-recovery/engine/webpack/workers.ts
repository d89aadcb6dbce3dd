import { baseConfig, strictExports, type BuildArguments } from "@relicario/shared/webpack";
import webpack, { type Compiler, type Configuration } from "webpack";

import { buildEngine } from "../build.ts";

export interface WorkersConfigOptions extends BuildArguments {
  /** Folder from which the entries are found. */
  readonly context: string;
  /** Names of the files, and the modules that they are made of. */
  readonly entry: Readonly<Record<string, string>>;
  /** Folder that they are written to. */
  readonly path: string;
}

/**
 * What runs in workers: one self-contained file each, without federation. The page fetches a
 * worker's file with its integrity and starts it from a blob address, where there is no base for
 * relative addresses: WASM is handed over compiled.
 */
export function createWorkersConfig({
  mode = "production",
  context,
  entry,
  path,
}: WorkersConfigOptions): Configuration {
  const base = baseConfig({ name: "workers", context, mode });
  return {
    ...base,
    target: "webworker",
    // libheif's glue asks for these where it finds itself in Node, and not in a worker.
    resolve: { ...base.resolve, fallback: { fs: false, path: false, crypto: false } },
    entry: { ...entry },
    output: {
      path,
      publicPath: "",
      filename: "[name].js",
      hashFunction: "sha256",
      uniqueName: "relicario_workers",
      clean: true,
    },
    // Decoders name their WASM by `new URL(…, import.meta.url)`; nothing of that is fetched, so
    // nothing is emitted.
    module: { ...base.module, parser: { javascript: { ...strictExports.javascript, url: false, worker: false } } },
    plugins: [
      new EnginePlugin(),
      new webpack.DefinePlugin({ "import.meta.url": JSON.stringify("https://in-a-worker.invalid/") }),
      new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 }),
    ],
  };
}

/** Compiles the engine first; its own build skips when its sources are unchanged. */
class EnginePlugin {
  apply(compiler: Compiler): void {
    compiler.hooks.beforeRun.tapPromise(EnginePlugin.name, async () => {
      await buildEngine();
    });
    compiler.hooks.watchRun.tapPromise(EnginePlugin.name, async () => {
      await buildEngine();
    });
  }
}
