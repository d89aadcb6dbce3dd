import { fileURLToPath } from "node:url";

import { createWorkersConfig } from "@relicario/engine/webpack";
import { baseConfig, IntegrityPlugin, remoteConfig, type BuildArguments } from "@relicario/shared/webpack";
import type { Configuration } from "webpack";

import {
  AssetsPlugin,
  controllerFolder,
  createAssetsDefinition,
  elementFolder,
  workersFolder,
} from "./webpack/assets-plugin.ts";
import { kitFolder } from "./webpack/kit-template.ts";

const createPageConfig = remoteConfig(import.meta.dirname);
const workers = {
  context: import.meta.dirname,
  outputPath: workersFolder,
  entry: {
    "vault-worker": "@relicario/vault/worker",
    "visitor-worker": "@relicario/vault/visitor-worker",
    "engine-worker": "@relicario/engine/worker",
    "transfer-worker": "@relicario/vault/transfer-worker",
    "import-worker": "@relicario/vault/import-worker",
    "strength-worker": "@relicario/vault/strength-worker",
  },
};

/** Page and worker of the kit. Each is one script that the kit's template contains. */
const kit = {
  context: import.meta.dirname,
  outputPath: kitFolder,
  entry: { "kit-page": "@relicario/vault/kit-page", "kit-worker": "@relicario/vault/kit-worker" },
};

/** Script of the vault's frame, one file. */
const controller = {
  context: import.meta.dirname,
  outputPath: controllerFolder,
  entry: { "vault-controller": "@relicario/vault/controller" },
};

/** Script of the vault's elements. Its chunks, fetched when needed, lie beside it. */
function createElementConfig({ mode = "production" }: BuildArguments): Configuration {
  const base = baseConfig({ name: "element", context: import.meta.dirname, mode });
  return {
    ...base,
    resolve: { ...base.resolve, alias: { [fileURLToPath(import.meta.resolve("zod/v4/locales"))]: false } },
    entry: { "vault-element": "./src/vault.element.tsx" },
    output: {
      path: elementFolder,
      publicPath: "auto",
      filename: "[name].js",
      chunkFilename: "vault-element-[name].js",
      hashFunction: "sha256",
      uniqueName: "relicario_element",
      crossOriginLoading: "anonymous",
      clean: true,
    },
    plugins: [new IntegrityPlugin()],
  };
}

/** Page and controller carry the workers' hashes, so they are built after them. */
export default (environment: unknown, options: BuildArguments): Configuration[] => {
  const page = createPageConfig(environment, options);
  const controllerConfig = createWorkersConfig({ ...options, ...controller });
  return [
    createWorkersConfig({ ...options, ...workers }),
    { ...createWorkersConfig({ ...options, ...kit }), name: "kit" },
    {
      ...controllerConfig,
      name: "controller",
      target: "web",
      output: { ...controllerConfig.output, publicPath: "auto" },
      dependencies: ["workers", "kit"],
      plugins: [...(controllerConfig.plugins ?? []), createAssetsDefinition()],
    },
    createElementConfig(options),
    { ...page, dependencies: ["controller", "element"], plugins: [...(page.plugins ?? []), new AssetsPlugin()] },
  ];
};
