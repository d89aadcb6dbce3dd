import { House, KeyRound, Plus, Settings, Users, type LucideIcon } from "lucide-react";

/** A destination of the navigation (specification, section 2). */
export interface Destination {
  readonly name: "home" | "secrets" | "received" | "add" | "settings";
  readonly path: string;
  readonly icon: LucideIcon;
}

export const destinations: readonly Destination[] = [
  { name: "home", path: "/home", icon: House },
  { name: "secrets", path: "/secrets", icon: KeyRound },
  { name: "received", path: "/recived", icon: Users },
  { name: "add", path: "/add-secret", icon: Plus },
  { name: "settings", path: "/settings/profile", icon: Settings },
];

/** Further paths that belong to a destination. */
const relatedPaths: Readonly<Partial<Record<Destination["name"], readonly string[]>>> = {
  secrets: ["/user-secrets", "/edit-secret", "/secret-history", "/share"],
  settings: ["/settings"],
};

/** Whether a path belongs to the destination, or lies below it. */
export function isCurrent({ name, path }: Destination, pathname: string): boolean {
  return (
    pathname === path ||
    (relatedPaths[name] ?? []).some((prefix) => pathname === prefix || pathname.startsWith(`${prefix}/`))
  );
}
