/**
 * What a release is compared with, without webpack: for programs that run where it is not
 * installed.
 */
export { findVersionProblems, ResolvedVersions, resolvedVersionsFile } from "./resolved-versions.ts";
export { sharedModules, type SharedModule } from "./shared-packages.ts";
