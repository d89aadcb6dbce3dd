export {
  baseConfig,
  strictExports,
  typescript,
  type BaseSettings,
  type BuildArguments,
  type Mode,
  type Refresh,
} from "./base-config.ts";
export { integrityFunction, IntegrityPlugin } from "./IntegrityPlugin.ts";
export { remoteConfig } from "./remote-config.ts";
export { providedByHost, sharedModules, takenFromHost, type SharedModule } from "./shared-packages.ts";
