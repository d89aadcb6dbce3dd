/**
 * Whether the URL has the provider's response in its query or fragment: `state` with `code` or
 * `error`.
 */
export function isSignInCallback(url: URL): boolean {
  return [url.searchParams, parseFragment(url)].some(
    (params) => params.has("state") && (params.has("code") || params.has("error")),
  );
}

/** Moves the response to the URL's query, where the sign-in client reads it. */
export function toCallbackUrl(url: URL): string {
  if (url.searchParams.has("state")) return url.href;
  const callbackUrl = new URL(url);
  callbackUrl.search = parseFragment(url).toString();
  callbackUrl.hash = "";
  return callbackUrl.href;
}

export function getCleanPath(url: URL): string {
  return url.pathname;
}

/** Path to return to; `/home` if the stored value is not a path of this origin. */
export function toSafeReturnPath(value: unknown, origin: string): string {
  if (typeof value !== "string" || !value.startsWith("/")) return "/home";
  try {
    const url = new URL(value, origin);
    if (url.origin !== origin || url.pathname.startsWith("//")) return "/home";
    return `${url.pathname}${url.search}${url.hash}`;
  } catch {
    return "/home"; // not a valid URL
  }
}

function parseFragment(url: URL): URLSearchParams {
  return new URLSearchParams(url.hash.slice(1));
}
