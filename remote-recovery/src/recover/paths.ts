/**
 * Where to go after unlocking: a path of this portal, never another site. Home when it is anything
 * else.
 */
export function safePath(then: string | null): string {
  if (!then?.startsWith("/")) return "/home";
  const base = "https://portal.invalid";
  const address = URL.parse(then, base);
  return address?.origin === base ? `${address.pathname}${address.search}` : "/home";
}

/** The number of an older version; null when none is named, or not as a number. */
export function versionOf(version: string | null): number | null {
  return version !== null && /^[1-9]\d{0,8}$/.test(version) ? Number(version) : null;
}
