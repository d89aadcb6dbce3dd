export {
  baseConfig,
  strictExports,
  typescriptRule,
  type BaseSettings,
  type BuildArguments,
  type BuildMode,
  type RefreshTransformer,
} from "./base-config.ts";
export { integrityFunctionName, IntegrityPlugin } from "./IntegrityPlugin.ts";
export { remoteConfig } from "./remote-config.ts";
export {
  sharedConfigForHost,
  sharedConfigForRemote,
  sharedModules,
  unstableNames,
  type SharedModule,
} from "./shared-packages.ts";
