import type { ComponentType } from "react";

import type { Http } from "./http.ts";
import type { Vault } from "./vault.ts";

/** The version of this contract that the host offers. A release states the range it was built for. */
export const CONTRACT_VERSION = "1.0.0";

/** The four areas of the product, each released by its own team. */
export const remoteNames = ["secrets", "sharing", "recovery", "settings"] as const;
export type RemoteName = (typeof remoteNames)[number];

/** One screen of a remote. Its code is loaded when somebody goes there. */
export interface RemoteRoute {
  /** Absolute path pattern in the notation of react-router, such as `/edit-secret/:secretId`. */
  readonly path: string;
  readonly load: () => Promise<{ default: ComponentType }>;
}

/** A place in the navigation that a remote asks for, beside the five of the host. */
export interface RemoteNavigation {
  readonly path: string;
  /** Key of the text, `<namespace>:<key>`. */
  readonly titleKey: string;
}

/** A guided tour: steps point at `data-tour` names, never at positions. */
export interface RemoteTour {
  readonly name: string;
  /** Path pattern of the screen that it is about; it runs when that is first shown, and from Help. */
  readonly path: string;
  /** What Help calls it, `<namespace>:<key>`; the title of its first step unless told otherwise. */
  readonly titleKey?: string | undefined;
  readonly steps: readonly { readonly target: string; readonly titleKey: string; readonly bodyKey: string }[];
}

/** What a remote can ask of the portal. Its signed release declares which it uses; the others are not given. */
export const capabilities = ["http", "vault", "user", "notify", "confirm", "navigate"] as const;
export type Capability = (typeof capabilities)[number];

/** Services that a remote gives to the others, by way of the portal. */
export interface RemoteServices {
  /** Made once per page; the host gives it to whoever asks for `usePortal().vault`. */
  readonly vault?: VaultFactory;
}

/** Makes the vault for one signed-in person. Called by the host, once per sign-in. */
export type VaultFactory = (portal: PortalForServices) => Promise<Vault>;

/** The little that a service may know: no React, no router. */
export interface PortalForServices {
  readonly http: Http;
  readonly vendorId: string;
  /** Identity of the account: the immutable id, and the pair that the identity provider knows it by. */
  readonly account: { readonly userId: string; readonly issuer: string; readonly subject: string };
  /**
   * Asks the person to sign in once more, in a window beside the page, so that nothing typed is lost. Call it from a click.
   * `authTime`: seconds since 1970 by the provider's clock, the ID token's own `auth_time`; never one from before the call.
   * `popup_blocked`, `cancelled` when the person closed the window, `timed_out` after five minutes, `login_required` when
   * somebody else signed in or the provider asked for nothing; or what the provider answered.
   */
  readonly signInAgain: () => Promise<{ readonly authTime: number }>;
}

/** A remote's whole face: the default export of its `remote.tsx`. */
export interface RemoteModule {
  readonly name: RemoteName;
  /** Range of contract versions, such as `^1`. */
  readonly contract: string;
  readonly routes: readonly RemoteRoute[];
  readonly navigation?: readonly RemoteNavigation[];
  /** Text namespaces that this remote owns and that its release carries in `locales/{lng}/{ns}.json`. */
  readonly namespaces: readonly string[];
  readonly tours?: readonly RemoteTour[];
  readonly capabilities?: readonly Capability[];
  readonly provides?: RemoteServices;
}
