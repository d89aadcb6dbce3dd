import { pathsOverlap, type ManifestRoute, type RemoteName } from "@relicario/shared/contract";
import { matchPath } from "react-router-dom";

import { manifestOf, type VerifiedDeployment } from "./deployment/verify.ts";
import { destinations } from "./frame/navigation.ts";

/** What the host draws itself; `unavailable` stands for a destination of the navigation that no remote is known to have. */
export type HostScreen = "help" | "status" | "validate-email" | "flags" | "unavailable";

/** Where a path leads, and what is there called (`<namespace>:<key>`); `access`, `shell`: shared/src/contract/manifest.ts. */
export type Place = {
  readonly pattern: string;
} & Omit<ManifestRoute, "path"> &
  ({ readonly remote: RemoteName } | { readonly screen: HostScreen });

const inShell = { shell: true, access: "signed_in" } as const;

const ownPlaces: readonly Place[] = [
  { pattern: "/help", screen: "help", titleKey: "help:title", ...inShell },
  { pattern: "/status", screen: "status", titleKey: "header:status.title", ...inShell },
  { pattern: "/validate-email", screen: "validate-email", titleKey: "header:validate_email.title", ...inShell },
  { pattern: "/_debug_flags_", screen: "flags", titleKey: "header:flags.title", ...inShell },
];

/**
 * Every path of the portal: the host's own, and those of the signed manifests, so that a release brings its own pages. A path
 * belongs to one only. Whoever signs deployment documents refuses one that gives it to two; should there be such a document
 * all the same, the host comes before remotes, those that run before those that were refused, and else the one that the
 * document names first. The other's route is left out and reported.
 */
export function portalPlaces(remotes: VerifiedDeployment["remotes"], report: (step: string, what: string) => void): readonly Place[] {
  const places = [...ownPlaces];
  const owned = (path: string) => places.find(({ pattern }) => pathsOverlap(pattern, path));
  const byStatus = (wanted: "verified" | "refused") => [...remotes].filter(([, { status }]) => status === wanted);

  for (const [name, remote] of [...byStatus("verified"), ...byStatus("refused")]) {
    const taken: Place[] = [];
    for (const { path, ...route } of manifestOf(remote)?.routes ?? []) {
      const owner = owned(path);
      if (owner === undefined) taken.push({ pattern: path, remote: name, ...route });
      else report(`remote ${name}`, `${path} belongs to ${"remote" in owner ? owner.remote : "the host"}`);
    }
    places.push(...taken);
  }
  for (const { name, path } of destinations) {
    // Nothing is known of whoever has it. An unknown path goes home, which may be the very one that is missing.
    if (owned(path) === undefined) places.push({ pattern: path, screen: "unavailable", titleKey: `beta-sidebar:destination.${name}`, ...inShell });
  }
  return places.sort((one, other) => rank(one.pattern).localeCompare(rank(other.pattern)));
}

/** Where a path leads, or where to go instead: the index, and an unknown path, to home. */
export function placeOf(places: readonly Place[], pathname: string): Place | { readonly redirect: string } {
  return places.find(({ pattern }) => matchPath(pattern, pathname) !== null) ?? { redirect: "/home" };
}

/** Of two patterns that fit an address, the one that says more about it comes first: a word, a parameter, anything. */
function rank(pattern: string): string {
  return pattern.replace(/\/[^/]+/g, (segment) => (segment === "/*" ? "2" : segment.startsWith("/:") ? "1" : "0"));
}

/** The shared-link view: its address contains "shared" but not "p-shared". It has no navigation, and a login button. */
export function isSharedLinkView(pathname: string): boolean {
  return pathname.includes("shared") && !pathname.includes("p-shared");
}
