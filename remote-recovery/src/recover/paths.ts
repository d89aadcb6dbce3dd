/**
 * Where to go after unlocking: a path of this portal, never another site. Home when it is anything
 * else.
 */
export function safePath(path: string | null): string {
  if (!path?.startsWith("/")) return "/home";
  const base = "https://portal.invalid";
  const url = URL.parse(path, base);
  return url?.origin === base ? `${url.pathname}${url.search}` : "/home";
}

/** The number of an older version; null when none is named, or not as a number. */
export function parseVersion(version: string | null): number | null {
  return version !== null && /^[1-9]\d{0,8}$/.test(version) ? Number(version) : null;
}
