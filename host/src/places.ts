import type { RemoteName } from "@relicario/shared/contract";
import { matchPath } from "react-router-dom";

/** What the host draws itself. */
export type HostScreen = "help" | "status" | "validate-email" | "flags";

/** Where a path leads. `shell`: with navigation around it. `access`: `p-shared` is behind the landing rule. */
export type Place = {
  readonly pattern: string;
  readonly shell: boolean;
  readonly access: "signed_in" | "public" | "guarded";
  /** Key of the window's title, `<namespace>:<key>`. The screen itself may have a more exact one. */
  readonly titleKey: string;
} & ({ readonly remote: RemoteName } | { readonly screen: HostScreen });

const inShell = { shell: true, access: "signed_in" } as const;
const alone = { shell: false, access: "signed_in" } as const;

/** Which remote owns which path. */
export const places: readonly Place[] = [
  { pattern: "/home", remote: "secrets", titleKey: "beta-sidebar:destination.home", ...inShell },
  { pattern: "/add-secret", remote: "secrets", titleKey: "beta-add-secret:page.title", ...inShell },
  { pattern: "/edit-secret/:secretId", remote: "secrets", titleKey: "beta-add-secret:edit.title", ...inShell },
  { pattern: "/secret-history/:secretId", remote: "secrets", titleKey: "beta-home:history.title", ...inShell },
  { pattern: "/secrets", remote: "secrets", titleKey: "beta-home:list.title", ...inShell },
  { pattern: "/user-secrets", remote: "secrets", titleKey: "beta-home:list.title", ...inShell },

  { pattern: "/provide-image", remote: "recovery", titleKey: "provide-image:page.title", ...alone },
  { pattern: "/upload-image", remote: "recovery", titleKey: "provide-image:page.title", ...alone },
  { pattern: "/provide-image-recovery", remote: "recovery", titleKey: "image-recovery:provide.recover_title", ...alone },
  { pattern: "/welcome", remote: "recovery", titleKey: "welcome:page.title", ...inShell },
  { pattern: "/welcome-backup", remote: "recovery", titleKey: "welcome:page.title", ...inShell },
  { pattern: "/provide-secret", remote: "recovery", titleKey: "beta-sidebar:destination.add", ...inShell },
  { pattern: "/processing", remote: "recovery", titleKey: "beta-sidebar:destination.add", ...inShell },
  { pattern: "/safeguard", remote: "recovery", titleKey: "safeguard:page.title", ...inShell },
  { pattern: "/congrats", remote: "recovery", titleKey: "congrats:page.title", ...inShell },
  { pattern: "/welcome-recovery", remote: "recovery", titleKey: "image-recovery:welcome.title", ...inShell },
  { pattern: "/processing-recovery", remote: "recovery", titleKey: "image-recovery:provide.recover_title", ...inShell },
  { pattern: "/congrats-recover", remote: "recovery", titleKey: "beta-recover:closed.title", ...inShell },

  { pattern: "/recived", remote: "sharing", titleKey: "beta-share:received.title", ...inShell },
  { pattern: "/shared/:shareId", remote: "sharing", titleKey: "beta-recover-share:open.title", shell: true, access: "public" },
  { pattern: "/p-shared/:shareId", remote: "sharing", titleKey: "beta-recover-share:open.title", shell: true, access: "guarded" },
  { pattern: "/secret-landing", remote: "sharing", titleKey: "landing:page.title", shell: false, access: "public" },

  { pattern: "/settings/*", remote: "settings", titleKey: "beta-sidebar:destination.settings", ...inShell },

  { pattern: "/help", screen: "help", titleKey: "help:title", ...inShell },
  { pattern: "/status", screen: "status", titleKey: "header:status.title", ...inShell },
  { pattern: "/validate-email", screen: "validate-email", titleKey: "header:validate_email.title", ...inShell },
  { pattern: "/_debug_flags_", screen: "flags", titleKey: "header:flags.title", ...inShell },
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
