import type { RemoteName } from "@relicario/shared/contract";
import { matchPath } from "react-router-dom";

/** What the host draws itself. */
export type HostScreen = "help" | "status" | "validate-email" | "flags";

/** Where a path leads. `shell`: with navigation around it. `access`: `p-shared` is behind the landing rule. */
export type Place = {
  readonly pattern: string;
  readonly shell: boolean;
  readonly access: "signed_in" | "public" | "guarded";
} & ({ readonly remote: RemoteName } | { readonly screen: HostScreen });

const inShell = { shell: true, access: "signed_in" } as const;
const alone = { shell: false, access: "signed_in" } as const;

/** Which remote owns which path. */
export const places: readonly Place[] = [
  ...["/home", "/add-secret", "/edit-secret/:secretId", "/secret-history/:secretId", "/secrets", "/user-secrets"].map((pattern) => ({ pattern, remote: "secrets" as const, ...inShell })),

  ...["/provide-image", "/upload-image", "/provide-image-recovery"].map((pattern) => ({ pattern, remote: "recovery" as const, ...alone })),
  ...[
    "/welcome",
    "/welcome-backup",
    "/provide-secret",
    "/processing",
    "/safeguard",
    "/congrats",
    "/welcome-recovery",
    "/processing-recovery",
    "/congrats-recover",
  ].map((pattern) => ({ pattern, remote: "recovery" as const, ...inShell })),

  { pattern: "/recived", remote: "sharing", ...inShell },
  { pattern: "/shared/:shareId", remote: "sharing", shell: true, access: "public" },
  { pattern: "/p-shared/:shareId", remote: "sharing", shell: true, access: "guarded" },
  { pattern: "/secret-landing", remote: "sharing", shell: false, access: "public" },

  { pattern: "/settings/*", remote: "settings", ...inShell },

  { pattern: "/help", screen: "help", ...inShell },
  { pattern: "/status", screen: "status", ...inShell },
  { pattern: "/validate-email", screen: "validate-email", ...inShell },
  { pattern: "/_debug_flags_", screen: "flags", ...inShell },
];

/** Where a path leads, or where to go instead: the index to home, settings to the profile, an unknown path to home. */
export function placeOf(pathname: string): Place | { readonly redirect: string } {
  const path = pathname.length > 1 ? pathname.replace(/\/+$/, "") : pathname;
  if (path === "/settings") return { redirect: "/settings/profile" };
  return places.find(({ pattern }) => matchPath(pattern, path) !== null) ?? { redirect: "/home" };
}

/** The shared-link view: its address contains "shared" but not "p-shared". It has no navigation, and a login button. */
export function isSharedLinkView(pathname: string): boolean {
  return pathname.includes("shared") && !pathname.includes("p-shared");
}
