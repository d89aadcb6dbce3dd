import type { remoteNames } from "@relicario/shared/contract";

/** What webpack builds, the longest first, so that two at a time end soonest. */
export const buildables = ["recovery", "host", "secrets", "sharing", "settings"] as const satisfies readonly ("host" | (typeof remoteNames)[number])[];
export type Buildable = (typeof buildables)[number];

export function isBuildable(name: unknown): name is Buildable {
  return buildables.some((buildable) => buildable === name);
}

/** Folder of its package, from the checkout's root. */
export function folderOf(name: Buildable): string {
  return name === "host" ? "host" : `remote-${name}`;
}
