import type { LinkSecret } from "@relicario/shared/contract";

import { overrideKey } from "../deployment/override.ts";
import { isSignInCallback } from "./callback.ts";

/**
 * Parameters that a link may have in its fragment and that name something: stored in session
 * storage by the same names (specification, section 2). `s` and `n` are no names: see
 * link-secret.ts.
 */
export const storedParameterNames = ["id", "recoverId", "vendorId", overrideKey] as const;

const knownParameterNames = ["s", "n", ...storedParameterNames] as const;

export const vendorIdKey = "vendorId";

/** The vendor that a link named, or the deployment's own; an empty name resets it. */
export function getChosenVendorId(storage: Pick<Storage, "getItem">, defaultVendorId: string): string {
  const chosenVendorId = storage.getItem(vendorIdKey);
  return chosenVendorId === null || chosenVendorId === "" ? defaultVendorId : chosenVendorId;
}

/** What a fragment carried. */
export interface LinkFragment {
  /**
   * The address without it, for the history entry and the reload, so that no history holds the
   * fragment.
   */
  readonly address: string;
  /** To be wrapped at once; null when it carried none, or one that means nothing at this path. */
  readonly secret: LinkSecret | null;
}

/**
 * Stores the names that the fragment carries; null when it has none of the known parameters. Below
 * `shared/`, `p-shared/` and `request/` `s` is the link key, and `n` and `id` mean nothing;
 * elsewhere `s` means something together with `n` alone.
 */
export function takeFragment(url: URL, storage: Pick<Storage, "setItem">): LinkFragment | null {
  if (isSignInCallback(url)) return null;
  const params = new URLSearchParams(url.hash.slice(1));
  if (!knownParameterNames.some((name) => params.has(name))) return null;
  const isLink = isLinkPath(url.pathname);
  for (const name of storedParameterNames) {
    const value = params.get(name);
    if (value !== null && !(isLink && name === "id")) storage.setItem(name, value);
  }
  return { address: `${url.pathname}${url.search}`, secret: parseLinkSecret(params, url.pathname, isLink) };
}

/** Whether this is the page of a link to a share or a request, whose `s` is the link key. */
export function isLinkPath(pathname: string): boolean {
  return /^\/(shared|p-shared|request)\//.test(pathname);
}

function parseLinkSecret(params: URLSearchParams, path: string, isLink: boolean): LinkSecret | null {
  const [s, n] = [params.get("s"), params.get("n")];
  if (s === null || s === "") return null;
  if (isLink) return { path, s, n: null };
  return n === null ? null : { path, s, n };
}
