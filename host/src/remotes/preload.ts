import { manifestOf, type VerifiedDeployment } from "../deployment/verify.ts";
import { placeOf, type Place } from "../places.ts";
import type { RemoteLoader } from "./loader.ts";

/** Fetches entry, texts and page of what will be shown while sign-in completes: code is public, data is not. */
export function preloadPlace(places: readonly Place[], path: string, loader: Pick<RemoteLoader, "prefetch">): void {
  const place = placeOf(places, path);
  if ("redirect" in place) {
    if (place.redirect !== path) preloadPlace(places, place.redirect, loader);
    return;
  }
  if ("remote" in place) loader.prefetch(place.remote, place.pattern);
}

/** Whether what is shown at that path belongs to a remote that may use the vault. */
export function mayUseVault(places: readonly Place[], path: string, remotes: VerifiedDeployment["remotes"]): boolean {
  const place = placeOf(places, path);
  if ("redirect" in place) return place.redirect !== path && mayUseVault(places, place.redirect, remotes);
  const remote = "remote" in place ? remotes.get(place.remote) : undefined;
  return remote?.status === "verified" && manifestOf(remote)?.capabilities.includes("vault") === true;
}
