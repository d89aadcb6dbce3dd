import type { ComponentType } from "react";

import type { Channel } from "./channel.ts";
import type { Visitor } from "./sharing.ts";
import type { Vault } from "./vault.ts";

/**
 * Version of this contract that the host provides. A release declares the range of versions that it
 * supports.
 */
export const CONTRACT_VERSION = "3.1.0";

/** Loads the code of a screen on first navigation. */
export type LoadPage = () => Promise<{ default: ComponentType }>;

/** A guided tour. Its steps name their targets by `data-tour`, not by position. */
export interface RemoteTour {
  readonly name: string;
  /**
   * Path pattern of the screen that the tour explains. The tour runs on the first visit of the
   * screen, and from Help.
   */
  readonly path: string;
  /** Key of the title in Help, `<namespace>:<key>`; by default the title of the first step. */
  readonly titleKey?: string | undefined;
  readonly steps: readonly { readonly target: string; readonly titleKey: string; readonly bodyKey: string }[];
}

/**
 * Capabilities that the portal offers. A remote gets the capabilities that its signed manifest
 * declares.
 */
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

/** Services that a remote provides to other remotes through the portal. */
export interface RemoteServices {
  /** Creates `usePortal().vault`. */
  readonly vault?: VaultFactory;
  /** Creates `usePortal().visitor`, for pages opened by a link. */
  readonly visitor?: VisitorFactory;
}

/** Creates the vault of a signed-in person. The host calls it once per sign-in. */
export type VaultFactory = (portal: PortalForServices) => Promise<Vault>;

/** Creates the visitor of a page opened by a link, signed in or not. */
export type VisitorFactory = (portal: PortalForVisitors) => Promise<Visitor>;

/** Part of the portal that a visitor gets: nothing of an account. */
export interface PortalForVisitors extends Pick<PortalForServices, "frame" | "vaultOrigin"> {
  /** Whether the service is called with the session token. */
  readonly signedIn: boolean;
}

/** The part of the portal that a service gets. It has no React and no router. */
export interface PortalForServices {
  readonly vendorId: string;
  /**
   * Identifies the account: its immutable id, and issuer and subject at the identity provider.
   * `authTime` is the time of the session's sign-in, in seconds since 1970 (the ID token's
   * `auth_time`); omitted if the token has none.
   */
  readonly account: {
    readonly userId: string;
    readonly issuer: string;
    readonly subject: string;
    readonly authTime?: number;
  };
  /**
   * The channel to the vault's frame, which has an origin of its own. The host serves `portal` on
   * it: {@link PortalServiceMembers}. Rejects with `vault_unavailable`.
   */
  readonly frame: () => Promise<Channel>;
  /** Origin of the vault's frame and of its visible elements. */
  readonly vaultOrigin: string;
  /**
   * Shows a dialog of the service over whatever the person sees, below `usePortal`. Resolves when
   * it calls `onClose`, or has crashed. Dialogs are shown one at a time.
   */
  readonly showDialog: (Dialog: ComponentType<ServiceDialogProps>) => Promise<void>;
}

/** Props of a dialog that a service shows. */
export interface ServiceDialogProps {
  readonly onClose: () => void;
}

/** What the vault's frame may ask of the portal's page, as the service `portal` of the channel. */
export interface PortalServiceMembers {
  /** The session token, for calls to the service. Fails as the token exchange does. */
  readonly getToken: () => Promise<string>;
  /** Replaces a token that the service refused. */
  readonly renewToken: () => Promise<void>;
  /**
   * Asks the person to sign in again in a window, so that nothing typed is lost. Call it from a
   * click, or the browser blocks the window. `authTime`: seconds since 1970 by the provider's clock
   * (the ID token's `auth_time`), never from before the call. Fails with `popup_blocked`;
   * `cancelled` when the person closed the window; `timed_out` after five minutes; `login_required`
   * when another person signed in or the provider did not ask for credentials; or the provider's
   * own error.
   */
  readonly signInAgain: () => Promise<{ readonly authTime: number }>;
  /**
   * Opens a window at the identity provider's address, and returns the query with which the
   * provider came back to `/signed-in` of the vault's origin. Call it from a click, or the browser
   * blocks the window. Fails with `popup_blocked`; `cancelled` when the person closed the window;
   * `timed_out` after five minutes.
   */
  readonly openSignIn: (address: string) => Promise<string>;
  /**
   * Returns the secret part of the link opened in this tab, once and within ten minutes. Returns
   * null after that.
   */
  readonly takeLinkSecret: () => Promise<LinkSecret | null>;
  /** Reports whether a call found the service available. */
  readonly reportReachable: (isUp: boolean) => void;
}

/** Data after the `#` of a link. Browsers do not send it to servers. */
export interface LinkSecret {
  /**
   * Path of the link. Below `shared/`, `p-shared/` and `request/`, `s` is the link key. At other
   * paths, `s` is a secret that another application passed.
   */
  readonly path: string;
  readonly s: string;
  /** Name of the secret that another application passed; null with a link key. */
  readonly n: string | null;
}

/**
 * Code of a remote: the default export of its `remote.tsx`. Declarations that need no code are in
 * its `manifest.json`.
 */
export interface RemoteModule {
  /** Code of each route, by its path. The paths must be exactly the routes of the manifest. */
  readonly routes: Readonly<Record<string, LoadPage>>;
  readonly tours?: readonly RemoteTour[];
  readonly provides?: RemoteServices;
}
