import { useCallback } from "react";

import { getManifest, type VerifiedDeployment } from "../deployment/verify.ts";
import type { RemoteLoader } from "../remotes/loader.ts";
import { findRoute, type PortalRoute } from "../routes/routes.ts";
import { useHost } from "./host-context.ts";

/**
 * Fetches the remote, texts and page of the route that will be shown. May run during sign-in,
 * because code is public.
 */
export function prefetchRoute(
  routes: readonly PortalRoute[],
  path: string,
  loader: Pick<RemoteLoader, "prefetch">,
): void {
  const route = findRoute(routes, path);
  if ("redirect" in route) {
    if (route.redirect !== path) prefetchRoute(routes, route.redirect, loader);
    return;
  }
  if ("remote" in route) loader.prefetch(route.remote, route.path);
}

/** Returns a function that prefetches the remote and page of a path, for example on hover. */
export function usePrefetch(): (path: string) => void {
  const { loader, routes } = useHost();
  return useCallback(
    (path) => {
      prefetchRoute(routes, path, loader);
    },
    [loader, routes],
  );
}

/** Whether the path's screen belongs to a remote that may use the vault. */
export function mayUseVault(
  routes: readonly PortalRoute[],
  path: string,
  remotes: VerifiedDeployment["remotes"],
): boolean {
  const route = findRoute(routes, path);
  if ("redirect" in route) return route.redirect !== path && mayUseVault(routes, route.redirect, remotes);
  const remote = "remote" in route ? remotes.get(route.remote) : undefined;
  return remote?.status === "verified" && getManifest(remote)?.capabilities.includes("vault") === true;
}
