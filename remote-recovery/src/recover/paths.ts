/** Accepts only paths of this portal, never other sites; anything else becomes `/home`. */
export function toSafePath(path: string | null): string {
  if (!path?.startsWith("/")) return "/home";
  const base = "https://portal.invalid";
  const url = URL.parse(path, base);
  // `/..//x` parses to a path with two leading slashes, which a browser resolves to another site
  return url?.origin === base ? `${url.pathname.replace(/^\/+/, "/")}${url.search}` : "/home";
}

/** Number of an older version; null if absent or malformed. */
export function parseVersion(version: string | null): number | null {
  return version !== null && /^[1-9]\d{0,8}$/.test(version) ? Number(version) : null;
}
