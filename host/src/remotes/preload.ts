import { z } from "zod";

import { placeOf, type Place } from "../places.ts";
import type { RemoteLoader } from "./loader.ts";

/** What sign-in keeps of the place to come back to, under `oidc.<state>` in session storage. */
const Kept = z.object({ data: z.object({ returnTo: z.string().startsWith("/") }) });

/** The path that will be shown: where sign-in returns to when the provider has just answered, else the address. */
export function pathToShow(address: URL, storage: Pick<Storage, "getItem">): string {
  const state = address.searchParams.get("state") ?? new URLSearchParams(address.hash.slice(1)).get("state");
  if (state === null) return address.pathname;
  try {
    return new URL(Kept.parse(JSON.parse(storage.getItem(`oidc.${state}`) ?? "")).data.returnTo, address).pathname;
  } catch {
    return address.pathname; // nothing was kept: it was only a guess to save time
  }
}

/** Fetches entry, texts and page of what will be shown while sign-in completes: code is public, data is not. */
export function preloadPlace(places: readonly Place[], path: string, loader: Pick<RemoteLoader, "prefetch">): void {
  const place = placeOf(places, path);
  if ("redirect" in place) {
    if (place.redirect !== path) preloadPlace(places, place.redirect, loader);
    return;
  }
  if ("remote" in place) loader.prefetch(place.remote, place.pattern);
}
