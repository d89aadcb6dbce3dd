/** What a link may carry in its fragment, kept in session storage under the same names (specification, section 2). */
export const fragmentNames = ["s", "n", "id", "recoverId", "vendorId"] as const;

export const vendorIdKey = "vendorId";

/** The vendor that a link named, else the deployment's own; an empty name resets it. */
export function chosenVendor(storage: Pick<Storage, "getItem">, own: string): string {
  const chosen = storage.getItem(vendorIdKey);
  return chosen === null || chosen === "" ? own : chosen;
}

/**
 * Saves what the fragment carries and gives the address without it; null when it carries none of it. The caller replaces
 * the history entry and reloads, so that the fragment is in no history.
 */
export function takeFragment(url: URL, storage: Pick<Storage, "setItem">): string | null {
  const params = new URLSearchParams(url.hash.slice(1));
  if (params.has("state")) return null; // an answer of the identity provider
  const carried = fragmentNames.filter((name) => params.has(name));
  if (carried.length === 0) return null;
  for (const name of carried) storage.setItem(name, params.get(name) ?? "");
  return `${url.pathname}${url.search}`;
}
