import { baseConfig, strictExports, type BuildArguments } from "@relicario/shared/webpack";
import webpack, { type Compiler, type Configuration } from "webpack";

import { buildEngine } from "../build.ts";

export interface WorkersConfigOptions extends BuildArguments {
  readonly context: string;
  /** Module of each output file, by the file's name. */
  readonly entry: Readonly<Record<string, string>>;
  readonly outputPath: string;
}

/**
 * Webpack configuration of workers: one self-contained file each, without federation. The page
 * fetches a worker with integrity and starts it from a blob URL. A blob URL resolves no relative
 * URLs, so the page passes compiled WASM.
 */
export function createWorkersConfig({
  mode = "production",
  context,
  entry,
  outputPath,
}: WorkersConfigOptions): Configuration {
  const base = baseConfig({ name: "workers", context, mode });
  return {
    ...base,
    target: "webworker",
    // Only Node needs these modules of libheif's glue code.
    resolve: { ...base.resolve, fallback: { fs: false, path: false, crypto: false } },
    entry: { ...entry },
    output: {
      path: outputPath,
      publicPath: "",
      filename: "[name].js",
      hashFunction: "sha256",
      uniqueName: "relicario_workers",
      clean: true,
    },
    // Decoders name their WASM with `new URL(…, import.meta.url)` but never fetch it, so emit
    // nothing.
    module: { ...base.module, parser: { javascript: { ...strictExports.javascript, url: false, worker: false } } },
    plugins: [
      new EnginePlugin(),
      new webpack.DefinePlugin({ "import.meta.url": JSON.stringify("https://in-a-worker.invalid/") }),
      new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 }),
    ],
  };
}

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
