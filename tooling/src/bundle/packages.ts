import { remoteNames } from "../remotes.ts";

/** `host`, or the name of a remote. */
export type BuildTarget = string;

/** The slowest first, so that two builds at a time end soonest. */
export const buildTargets: readonly BuildTarget[] = [...new Set(["recovery", "host", ...remoteNames])];

export function isBuildTarget(name: unknown): name is BuildTarget {
  return buildTargets.some((target) => target === name);
}

export function getPackageFolder(name: BuildTarget): string {
  return name === "host" ? "host" : `remote-${name}`;
}
