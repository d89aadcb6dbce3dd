/** Where to go after unlocking: a path of this portal, never another site. Home when it is anything else. */
export function safePath(then: string | null): string {
  if (!then?.startsWith("/")) return "/home";
  const base = "https://portal.invalid";
  const address = URL.parse(then, base);
  return address?.origin === base ? `${address.pathname}${address.search}` : "/home";
}
