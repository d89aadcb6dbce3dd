import { createWorkersConfig } from "@relicario/engine/webpack";
import { remoteConfig, type BuildArguments } from "@relicario/shared/webpack";
import type { Configuration } from "webpack";

import { AssetsPlugin, workersOutput } from "./webpack/assets-plugin.ts";
import { kitOutput } from "./webpack/kit-template.ts";

const createPageConfig = remoteConfig(import.meta.dirname);
const workers = {
  context: import.meta.dirname,
  path: workersOutput,
  entry: {
    "vault-worker": "@relicario/vault/worker",
    "visitor-worker": "@relicario/vault/visitor-worker",
    "engine-worker": "@relicario/engine/worker",
    "transfer-worker": "@relicario/vault/transfer-worker",
    "import-worker": "@relicario/vault/import-worker",
  },
};

/** Page and worker of the kit, each one script, which its template takes in. */
const kit = {
  context: import.meta.dirname,
  path: kitOutput,
  entry: { "kit-page": "@relicario/vault/kit-page", "kit-worker": "@relicario/vault/kit-worker" },
};

/** The page carries the workers, so it is built after them. */
export default (environment: unknown, options: BuildArguments): Configuration[] => {
  const page = createPageConfig(environment, options);
  return [
    createWorkersConfig({ ...options, ...workers }),
    { ...createWorkersConfig({ ...options, ...kit }), name: "kit" },
    { ...page, dependencies: ["workers", "kit"], plugins: [...(page.plugins ?? []), new AssetsPlugin()] },
  ];
};
