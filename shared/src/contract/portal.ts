import { createContext, useContext } from "react";

import type { ErrorCode } from "../errors/index.ts";
import type { Drives } from "./drives.ts";
import type { HttpClient } from "./http-client.ts";
import type { Language } from "./language.ts";
import type { RemoteName } from "./manifest.ts";
import type { Visitor } from "./sharing.ts";
import type { Vault } from "./vault.ts";

export type ThemeName = "light" | "dark";

export interface PortalUser {
  /** Immutable id of the account, as sealed documents name it. */
  readonly userId: string;
  /** Display name; may change. */
  readonly userName: string;
  readonly contactEmail: string | null;
}

export interface PortalVendor {
  readonly vendorId: string;
  readonly branding: { readonly productName: string };
  /** The vendor's messages on the home screen, newest first. */
  readonly messages: readonly PortalMessage[];
  /**
   * URL of the vendor's payment provider, where people pay. Omitted if nothing costs money. No card
   * data passes through the portal.
   */
  readonly paymentsUrl?: string | undefined;
  /** Other applications from which people get secrets. None if omitted. */
  readonly handovers?: readonly PortalHandover[] | undefined;
}

/**
 * A page of another application. The portal opens it, and takes a secret from it:
 * docs/handing-over.md.
 */
export interface PortalHandover {
  readonly name: string;
  readonly url: string;
}

/** Plain text in each language of the portal. `link` is an optional URL. */
export interface PortalMessage {
  readonly id: string;
  readonly title: Readonly<Record<Language, string>>;
  readonly body: Readonly<Record<Language, string>>;
  readonly link?: string | undefined;
}

export interface ConfirmOptions {
  readonly title: string;
  readonly description: string;
  /** By default "Yes" and "Cancel" in the person's language. */
  readonly confirmLabel?: string;
  readonly cancelLabel?: string;
  readonly alert?: boolean;
  /**
   * Whether confirming destroys something. Styles its button as dangerous and the other one as
   * primary.
   */
  readonly danger?: boolean;
  /** Shows only the confirm button, for a message without a decision. */
  readonly singleButton?: boolean;
  /** Whether Escape and clicks outside leave the dialog open. */
  readonly mustAnswer?: boolean;
}

export interface Notice {
  readonly tone: "success" | "info" | "error";
  readonly text: string;
}

/**
 * A failure that a remote reports. It contains no secret, and no error message of another library.
 */
export interface FailureReport {
  readonly remote: RemoteName;
  readonly phase: "load" | "render" | "call";
  readonly code: ErrorCode;
}

/**
 * `lock`: wipe keys and plaintext. `sign_out`: also wipe data that must not stay on a shared
 * computer.
 */
export type LockReason = "lock" | "sign_out";

/**
 * The portal as remotes see it. The object is frozen; when a member changes, a new object is
 * created.
 */
export interface Portal {
  /**
   * Calls to the service, limited to the paths that the release declares. Remotes cannot read the
   * token.
   */
  readonly http: HttpClient;
  /**
   * The vault, which seals and opens secrets. Rejects with `vault_unavailable` when the recovery
   * remote does not load.
   */
  readonly vault: Promise<Vault>;
  /**
   * Operations of a page opened by a link, without access to an account's keys. Rejects with
   * `vault_unavailable` when the recovery remote does not load.
   */
  readonly visitor: Promise<Visitor>;
  readonly user: PortalUser;
  readonly vendor: PortalVendor;
  readonly features: Readonly<Record<string, boolean>>;
  /**
   * Cloud drives for which this deployment is registered. Needs no capability, because forms of
   * every remote have the picture field.
   */
  readonly drives: Readonly<Drives>;
  readonly language: Language;
  readonly theme: ThemeName;
  /** Version of the application in the deployment document, such as `0.3.1`. */
  readonly appVersion: string;
  /**
   * Saves the chosen language for all pages; a new portal object follows. Needs the capability
   * `preferences`.
   */
  readonly setLanguage: (language: Language) => void;
  readonly setTheme: (theme: ThemeName) => void;
  /** Navigates to a path of the portal. */
  readonly navigate: (path: string, options?: { readonly replace?: boolean }) => void;
  /** Asks in a dialog. Resolves with false when the person cancels or closes it. */
  readonly confirm: (request: ConfirmOptions) => Promise<boolean>;
  /** Shows a toast for 5 s. */
  readonly notify: (notice: Notice) => void;
  /**
   * Asks the person to sign in again in a window. Later calls use the new sign-in. Call it from a
   * click. Rejects with the codes of `signInAgain` of `PortalForServices`.
   */
  readonly signInAgain: () => Promise<void>;
  readonly report: (report: FailureReport) => void;
  /**
   * Calls the listener before the portal locks or signs out, and waits for it up to a time limit.
   * Returns an unsubscribe function.
   */
  readonly onLock: (listener: (reason: LockReason) => void | Promise<void>) => () => void;
}

export const PortalContext = createContext<Portal | null>(null);

/** Returns the portal. Call it only inside a remote's screens. */
export function usePortal(): Portal {
  const portal = useContext(PortalContext);
  if (portal === null) throw new TypeError("usePortal must be called inside the portal");
  return portal;
}
