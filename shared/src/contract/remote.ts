import type { ComponentType } from "react";

import type { HttpClient } from "./http.ts";
import type { Visitor } from "./sharing.ts";
import type { Vault } from "./vault.ts";

/**
 * The version of this contract that the host offers. A release states the range it was built for.
 */
export const CONTRACT_VERSION = "3.0.0";

/** Fetches the code of a screen, when somebody goes there. */
export type LoadPage = () => Promise<{ default: ComponentType }>;

/** A guided tour: steps point at `data-tour` names, never at positions. */
export interface RemoteTour {
  readonly name: string;
  /**
   * Path pattern of the screen that it is about; it runs when that is first shown, and from Help.
   */
  readonly path: string;
  /** What Help calls it, `<namespace>:<key>`; the title of its first step unless told otherwise. */
  readonly titleKey?: string | undefined;
  readonly steps: readonly { readonly target: string; readonly titleKey: string; readonly bodyKey: string }[];
}

/** Capabilities that the portal offers. A remote gets those that its signed manifest declares. */
export const capabilities = [
  "http",
  "vault",
  "user",
  "notify",
  "confirm",
  "navigate",
  "visitor",
  "drives",
  "preferences",
  "sign_in",
] as const;
export type Capability = (typeof capabilities)[number];

/** Services that a remote gives to the others, by way of the portal. */
export interface RemoteServices {
  /** Made once per page; the host gives it to whoever asks for `usePortal().vault`. */
  readonly vault?: VaultFactory;
  /**
   * Made for a page opened by a link; the host gives it to whoever asks for `usePortal().visitor`.
   */
  readonly visitor?: VisitorFactory;
}

/** Makes the vault for one signed-in person. Called by the host, once per sign-in. */
export type VaultFactory = (portal: PortalForServices) => Promise<Vault>;

/** Makes the visitor of a page opened by a link, whoever is signed in. */
export type VisitorFactory = (portal: PortalForVisitors) => Promise<Visitor>;

/** The part of the portal that a visitor gets: nothing of an account. */
export type PortalForVisitors = Pick<PortalForServices, "http" | "vendorId" | "takeLinkSecret">;

/** The part of the portal that a service gets: no React, no router. */
export interface PortalForServices {
  readonly http: HttpClient;
  readonly vendorId: string;
  /**
   * Identity of the account: the immutable id, and the pair that the identity provider knows it by.
   * `authTime`: when the person signed in for this session, seconds since 1970, the ID token's own
   * `auth_time`; left out when it has none.
   */
  readonly account: {
    readonly userId: string;
    readonly issuer: string;
    readonly subject: string;
    readonly authTime?: number;
  };
  /**
   * Asks the person to sign in once more, in a window beside the page, so that nothing typed is
   * lost. Call it from a click. `authTime`: seconds since 1970 by the provider's clock, the ID
   * token's own `auth_time`; never one from before the call. `popup_blocked`, `cancelled` when the
   * person closed the window, `timed_out` after five minutes, `login_required` when somebody else
   * signed in or the provider asked for nothing; or what the provider answered.
   */
  readonly signInAgain: () => Promise<{ readonly authTime: number }>;
  /**
   * What the link that was opened in this tab carried, once, within ten minutes; null afterwards.
   */
  readonly takeLinkSecret: () => Promise<LinkSecret | null>;
}

/** What a link carries behind `#` that nobody else may read. */
export interface LinkSecret {
  /**
   * The path of the link. Below `shared/`, `p-shared/` and `request/` `s` is the link key;
   * elsewhere a secret that another application handed over.
   */
  readonly path: string;
  readonly s: string;
  /** The name of a secret that was handed over; null with a link key. */
  readonly n: string | null;
}

/**
 * The code of a remote: the default export of its `remote.tsx`. What can be said without code
 * stands in its `manifest.json`.
 */
export interface RemoteModule {
  /** The code of each route of the manifest, by the route's path; no more and no fewer. */
  readonly routes: Readonly<Record<string, LoadPage>>;
  readonly tours?: readonly RemoteTour[];
  readonly provides?: RemoteServices;
}
