import { workersConfig } from "@relicario/engine/webpack";
import { remoteConfig, type BuildArguments } from "@relicario/shared/webpack";
import type { Configuration } from "webpack";

import { AssetsPlugin, builtWorkers } from "./webpack/assets.ts";

const pageOf = remoteConfig(import.meta.dirname);
const workers = {
  context: import.meta.dirname,
  path: builtWorkers,
  entry: {
    "vault-worker": "@relicario/vault/worker",
    "visitor-worker": "@relicario/vault/visitor-worker",
    "engine-worker": "@relicario/engine/worker",
    "transfer-worker": "@relicario/vault/transfer-worker",
  },
};

/** The page carries the workers, so it is built after them. */
export default (environment: unknown, options: BuildArguments): Configuration[] => {
  const page = pageOf(environment, options);
  return [workersConfig({ ...options, ...workers }), { ...page, dependencies: ["workers"], plugins: [...(page.plugins ?? []), new AssetsPlugin()] }];
};
