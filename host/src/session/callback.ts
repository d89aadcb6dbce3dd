/**
 * Whether the address carries an answer of the provider: `code` or `error`, with `state`, in query
 * or fragment.
 */
export function isSignInCallback(url: URL): boolean {
  return [url.searchParams, parseFragment(url)].some(
    (params) => params.has("state") && (params.has("code") || params.has("error")),
  );
}

/**
 * The address with the answer in its query, where the sign-in client reads it. An answer in the
 * fragment is moved there.
 */
export function toCallbackUrl(url: URL): string {
  if (url.searchParams.has("state")) return url.href;
  const callbackUrl = new URL(url);
  callbackUrl.search = parseFragment(url).toString();
  callbackUrl.hash = "";
  return callbackUrl.href;
}

/** The address without the provider's parameters: its path alone. */
export function getCleanPath(url: URL): string {
  return url.pathname;
}

/**
 * The path to return to, or `/home`. Never an address of another origin, whatever the stored state
 * contains.
 */
export function toSafeReturnPath(value: unknown, origin: string): string {
  if (typeof value !== "string" || !value.startsWith("/")) return "/home";
  try {
    const url = new URL(value, origin);
    if (url.origin !== origin || url.pathname.startsWith("//")) return "/home";
    return `${url.pathname}${url.search}${url.hash}`;
  } catch {
    return "/home"; // not a valid address
  }
}

function parseFragment(url: URL): URLSearchParams {
  return new URLSearchParams(url.hash.slice(1));
}
