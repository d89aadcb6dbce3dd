import { House, KeyRound, Plus, Settings, Users, type LucideIcon } from "lucide-react";

/** The five destinations of the navigation (specification, section 2). */
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

/** Whether a destination is the current one. */
export function isCurrent(destination: Destination, pathname: string): boolean {
  if (destination.name === "settings") return pathname.startsWith("/settings");
  if (destination.name === "secrets") return ["/secrets", "/user-secrets"].includes(pathname) || pathname.startsWith("/edit-secret/");
  return pathname === destination.path;
}
