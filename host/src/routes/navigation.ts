import { destinationPaths } from "@relicario/shared/contract";
import { House, KeyRound, Plus, Settings, Users, type LucideIcon } from "lucide-react";

/** A destination of the navigation (specification, section 2). */
export interface Destination {
  readonly name: keyof typeof destinationPaths;
  readonly path: string;
  readonly icon: LucideIcon;
}

export const destinations: readonly Destination[] = [
  { name: "home", path: destinationPaths.home, icon: House },
  { name: "secrets", path: destinationPaths.secrets, icon: KeyRound },
  { name: "received", path: destinationPaths.received, icon: Users },
  { name: "add", path: destinationPaths.add, icon: Plus },
  { name: "settings", path: destinationPaths.settings, icon: Settings },
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
