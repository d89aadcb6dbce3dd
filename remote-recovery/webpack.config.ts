import { remoteConfig, type BuildArguments } from "@relicario/shared/webpack";
import type { Configuration } from "webpack";

import { AssetsPlugin } from "./webpack/assets.ts";
import { workersConfig } from "./webpack/workers.ts";

const pageOf = remoteConfig(import.meta.dirname);

/** The page carries the workers, so it is built after them. */
export default (environment: unknown, options: BuildArguments): Configuration[] => {
  const page = pageOf(environment, options);
  return [workersConfig(options), { ...page, dependencies: ["workers"], plugins: [...(page.plugins ?? []), new AssetsPlugin()] }];
};
