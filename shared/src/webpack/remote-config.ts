import { readFileSync } from "node:fs";
import { join } from "node:path";

import { ModuleFederationPlugin } from "@module-federation/enhanced/webpack";
import type { Configuration } from "webpack";
import { z } from "zod";

import { baseConfig, type BuildArguments } from "./base-config.ts";
import { IntegrityPlugin } from "./IntegrityPlugin.ts";
import { sharedConfigForRemote } from "./shared-packages.ts";
import { SurfacePlugin } from "./SurfacePlugin.ts";

/**
 * How a remote is built: one exposed face, nothing shared brought along. For the
 * `webpack.config.ts` or `.mjs` of a package with `manifest.json` and `src/remote.tsx`: `export
 * default remoteConfig(import.meta.dirname)`. Built into `build/web`.
 */
export function remoteConfig(folder: string): (environment: unknown, options: BuildArguments) => Configuration {
  const { name } = z
    .object({ name: z.string() })
    .parse(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")));
  const container = `relicario_${name}`;
  return (_environment, { mode = "production", refresh }) => ({
    ...baseConfig({ name, context: folder, mode, refresh }),
    entry: {},
    experiments: { css: true },
    output: {
      path: join(folder, "build/web"),
      publicPath: "auto",
      // The folder of a release is named by the hash of its files, so what is in it needs no hash
      // of its own.
      filename: "[name].js",
      chunkFilename: "[name].js",
      cssChunkFilename: "[name].css",
      assetModuleFilename: "[name].[contenthash:8][ext]",
      hashFunction: "sha256",
      uniqueName: container,
      crossOriginLoading: "anonymous",
      chunkLoadTimeout: 10_000, // as the host's time limit of one attempt: the next one asks again
      strictModuleErrorHandling: true,
      clean: true,
    },
    plugins: [
      new ModuleFederationPlugin({
        name: container,
        filename: "remoteEntry.js",
        library: { type: "var", name: container },
        exposes: { "./remote": { import: "./src/remote.tsx", name: "remote" } },
        shared: sharedConfigForRemote(),
        shareStrategy: "loaded-first",
        experiments: { externalRuntime: true, optimization: { disableSnapshot: true, target: "web" } },
        manifest: true,
        dts: false,
      }),
      new SurfacePlugin(),
      ...(refresh === undefined ? [new IntegrityPlugin()] : []),
    ],
  });
}
