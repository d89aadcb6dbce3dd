import { pathsOverlap, type ManifestRoute, type RemoteName } from "@relicario/shared/contract";
import { matchPath } from "react-router-dom";

import { getManifest, type VerifiedDeployment } from "../deployment/verify.ts";
import { destinations } from "./navigation.ts";

/**
 * A screen that the host draws itself; `unavailable` replaces a destination of the navigation that
 * no verified remote has.
 */
export type HostScreen = "help" | "status" | "validate-email" | "flags" | "unavailable";

/**
 * One route of the portal, as a manifest describes it (shared/src/contract/manifest.ts), and who
 * draws its screen.
 */
export type PortalRoute = ManifestRoute & ({ readonly remote: RemoteName } | { readonly screen: HostScreen });

const shellDefaults = { shell: true, access: "signed_in" } as const;

const hostRoutes: readonly PortalRoute[] = [
  { path: "/help", screen: "help", titleKey: "help:title", ...shellDefaults },
  { path: "/status", screen: "status", titleKey: "header:status.title", ...shellDefaults },
  { path: "/validate-email", screen: "validate-email", titleKey: "header:validate_email.title", ...shellDefaults },
  { path: "/_debug_flags_", screen: "flags", titleKey: "header:flags.title", ...shellDefaults },
];

/**
 * All routes of the portal: the host's own and those of the signed manifests, so that a release
 * brings its own pages. The tools that sign a deployment document refuse one in which two remotes
 * have the same path. If there is such a document all the same, the host's routes win over those of
 * remotes, verified remotes over refused ones, and otherwise the remote that the document names
 * first. The other route is left out and reported.
 */
export function buildPortalRoutes(
  remotes: VerifiedDeployment["remotes"],
  report: (step: string, message: string) => void,
): readonly PortalRoute[] {
  const routes = [...hostRoutes];
  const findOwner = (path: string) => routes.find((route) => pathsOverlap(route.path, path));
  const filterByStatus = (wantedStatus: "verified" | "refused") =>
    [...remotes].filter(([, { status }]) => status === wantedStatus);

  for (const [name, remote] of [...filterByStatus("verified"), ...filterByStatus("refused")]) {
    const added: PortalRoute[] = [];
    for (const route of getManifest(remote)?.routes ?? []) {
      const owner = findOwner(route.path);
      if (owner === undefined) added.push({ remote: name, ...route });
      else report(`remote ${name}`, `${route.path} belongs to ${"remote" in owner ? owner.remote : "the host"}`);
    }
    routes.push(...added);
  }
  for (const { name, path } of destinations) {
    // Without a route the path would be unknown and lead home, which may be the very page that is
    // missing.
    if (findOwner(path) === undefined)
      routes.push({ path, screen: "unavailable", titleKey: `beta-sidebar:destination.${name}`, ...shellDefaults });
  }
  return routes.sort((a, b) => toSortKey(a.path).localeCompare(toSortKey(b.path)));
}

/** The route of a path, or where to go instead: `/` and unknown paths lead home. */
export function findRoute(
  routes: readonly PortalRoute[],
  pathname: string,
): PortalRoute | { readonly redirect: string } {
  return routes.find(({ path }) => matchPath(path, pathname) !== null) ?? { redirect: "/home" };
}

/** Sorts the more specific of two matching patterns first: a word before a parameter before `*`. */
function toSortKey(path: string): string {
  return path.replace(/\/[^/]+/g, (segment) => (segment === "/*" ? "2" : segment.startsWith("/:") ? "1" : "0"));
}

/** Local storage flag of a visitor who has seen the landing page. */
export const landingVisitedKey = "landingAlreadyVisited";

/**
 * Whether a visitor may see a route's screen, or where to send them instead (specification, section
 * 2).
 */
export function guardRoute(
  route: PortalRoute,
  visitor: { readonly signedIn: boolean; readonly landingVisited: boolean },
): "show" | "sign_in" | "landing" {
  if (visitor.signedIn || route.access === "public") return "show";
  return route.access === "guarded" && !visitor.landingVisited ? "landing" : "sign_in";
}

/**
 * Whether this is the view of a link that needs no account: it has no navigation and a login
 * button. Its path contains "shared", but not "p-shared"; or it is a request.
 */
export function isSharedLinkView(pathname: string): boolean {
  return (pathname.includes("shared") && !pathname.includes("p-shared")) || pathname.startsWith("/request/");
}
