import { readFileSync } from "node:fs";
import { join } from "node:path";

import { ModuleFederationPlugin } from "@module-federation/enhanced/webpack";
import type { Configuration } from "webpack";
import { z } from "zod";

import { baseConfig, type BuildArguments } from "./base-config.ts";
import { IntegrityPlugin } from "./IntegrityPlugin.ts";
import { NoncePlugin } from "./NoncePlugin.ts";
import { ScopePlugin } from "./ScopePlugin.ts";
import { sharedConfigForRemote } from "./shared-packages.ts";
import { SurfacePlugin } from "./SurfacePlugin.ts";

/**
 * Webpack configuration of a remote, which exposes one module and bundles no shared package. For
 * the `webpack.config.ts` or `.mjs` of a package with `manifest.json` and `src/remote.tsx`: `export
 * default remoteConfig(import.meta.dirname)`. The build is in `build/web`.
 */
export function remoteConfig(folder: string): (environment: unknown, options: BuildArguments) => Configuration {
  return (_environment, { mode = "production", refresh }) => {
    const { name } = z
      .object({ name: z.string() })
      .parse(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")));
    const container = `relicario_${name}`;
    return {
      ...baseConfig({ name, context: folder, mode, refresh }),
      entry: {},
      experiments: { css: true },
      output: {
        path: join(folder, "build/web"),
        publicPath: "auto",
        // The name of a release's folder has the hash of its files, so file names need no hash.
        filename: "[name].js",
        chunkFilename: "[name].js",
        cssChunkFilename: "[name].css",
        assetModuleFilename: "[name].[contenthash:8][ext]",
        hashFunction: "sha256",
        uniqueName: container,
        crossOriginLoading: "anonymous",
        chunkLoadTimeout: 10_000, // the host's time limit of one attempt
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
        new NoncePlugin(),
        new ScopePlugin(name),
        ...(refresh === undefined ? [new IntegrityPlugin()] : []),
      ],
    };
  };
}
