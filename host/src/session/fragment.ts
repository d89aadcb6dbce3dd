/** Parameters that a link may have in its fragment. They are stored in session storage by the same names (specification, section 2). */
export const fragmentNames = ["s", "n", "id", "recoverId", "vendorId"] as const;

export const vendorIdKey = "vendorId";

/** The vendor that a link named, or the deployment's own; an empty name resets it. */
export function chosenVendor(storage: Pick<Storage, "getItem">, own: string): string {
  const chosen = storage.getItem(vendorIdKey);
  return chosen === null || chosen === "" ? own : chosen;
}

/**
 * Stores the known parameters of the fragment and returns the address without it; null when it has none of them. The caller
 * replaces the history entry with that address and reloads, so that no history holds the fragment.
 */
export function takeFragment(url: URL, storage: Pick<Storage, "setItem">): string | null {
  const params = new URLSearchParams(url.hash.slice(1));
  if (params.has("state")) return null; // an answer of the identity provider
  const carried = fragmentNames.filter((name) => params.has(name));
  if (carried.length === 0) return null;
  for (const name of carried) storage.setItem(name, params.get(name) ?? "");
  return `${url.pathname}${url.search}`;
}
