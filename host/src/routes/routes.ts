import { hostPaths, pathsOverlap, type ManifestRoute, type RemoteName } from "@relicario/shared/contract";
import { matchPath } from "react-router-dom";

import { getManifest, type VerifiedDeployment } from "../deployment/verify.ts";
import { destinations } from "./navigation.ts";

/**
 * A screen of the host. `unavailable` replaces a navigation destination that no verified remote
 * provides.
 */
export type HostScreen = "help" | "status" | "validate-email" | "flags" | "unavailable";

/**
 * A route as a manifest describes it (shared/src/contract/manifest.ts), and the remote or the
 * host's screen that renders it.
 */
export type PortalRoute = ManifestRoute & ({ readonly remote: RemoteName } | { readonly screen: HostScreen });

const shellDefaults = { shell: true, access: "signed_in" } as const;

const hostScreens: Readonly<
  Record<(typeof hostPaths)[number], { readonly screen: HostScreen; readonly titleKey: string }>
> = {
  "/help": { screen: "help", titleKey: "help:title" },
  "/status": { screen: "status", titleKey: "header:status.title" },
  "/validate-email": { screen: "validate-email", titleKey: "header:validate_email.title" },
  "/_debug_flags_": { screen: "flags", titleKey: "header:flags.title" },
};

const hostRoutes: readonly PortalRoute[] = hostPaths.map((path) => ({ path, ...hostScreens[path], ...shellDefaults }));

/**
 * Lists all routes: the host's own and those of the signed manifests.
 *
 * The deployment tools refuse to sign a document in which two remotes claim the same path. If it
 * happens anyway, the host wins over remotes, a verified remote over a refused one, and otherwise
 * the remote that the document names first. The other route is dropped and reported.
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
    const acceptedRoutes: PortalRoute[] = [];
    for (const route of getManifest(remote)?.routes ?? []) {
      const owner = findOwner(route.path);
      if (owner === undefined) acceptedRoutes.push({ remote: name, ...route });
      else report(`remote ${name}`, `${route.path} belongs to ${"remote" in owner ? owner.remote : "the host"}`);
    }
    routes.push(...acceptedRoutes);
  }
  for (const { name, path } of destinations) {
    // Without a route the path would be unknown and redirect home, and home may be the page that is
    // missing.
    if (findOwner(path) === undefined)
      routes.push({ path, screen: "unavailable", titleKey: `beta-sidebar:destination.${name}`, ...shellDefaults });
  }
  return routes.sort((a, b) => toSortKey(a.path).localeCompare(toSortKey(b.path)));
}

/** Returns the route of a path, or a redirect to home for `/` and unknown paths. */
export function findRoute(
  routes: readonly PortalRoute[],
  pathname: string,
): PortalRoute | { readonly redirect: string } {
  return routes.find(({ path }) => matchPath(path, pathname) !== null) ?? { redirect: "/home" };
}

/**
 * Key that sorts the more specific of two matching patterns first: literals, then parameters, then
 * `*`.
 */
function toSortKey(path: string): string {
  return path.replace(/\/[^/]+/g, (segment) => (segment === "/*" ? "2" : segment.startsWith("/:") ? "1" : "0"));
}

/** Local storage flag: this visitor has seen the landing page. */
export const landingVisitedKey = "landingAlreadyVisited";

/** Whether a visitor may see a route, or where to redirect them (specification, section 2). */
export function guardRoute(
  route: PortalRoute,
  visitor: { readonly signedIn: boolean; readonly landingVisited: boolean },
): "show" | "sign_in" | "landing" {
  if (visitor.signedIn || route.access === "public") return "show";
  return route.access === "guarded" && !visitor.landingVisited ? "landing" : "sign_in";
}

/**
 * Whether this is the page of a link that needs no account. Such a page has a sign-in button and no
 * navigation. Its path contains "shared" but not "p-shared", or belongs to a request.
 */
export function isSharedLinkView(pathname: string): boolean {
  return (pathname.includes("shared") && !pathname.includes("p-shared")) || pathname.startsWith("/request/");
}
