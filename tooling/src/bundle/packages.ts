import { remoteNames } from "../remotes.ts";

/** `host`, or the name of a remote. */
export type Buildable = string;

/** What webpack builds, the longest first, so that two at a time end soonest. */
export const buildables: readonly Buildable[] = [...new Set(["recovery", "host", ...remoteNames])];

export function isBuildable(name: unknown): name is Buildable {
  return buildables.some((buildable) => buildable === name);
}

/** Folder of its package, from the checkout's root. */
export function getPackageFolder(name: Buildable): string {
  return name === "host" ? "host" : `remote-${name}`;
}
