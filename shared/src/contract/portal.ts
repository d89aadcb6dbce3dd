import { createContext, useContext } from "react";

import type { ErrorCode } from "../errors/index.ts";
import type { Drives } from "./drives.ts";
import type { HttpClient } from "./http.ts";
import type { Language } from "./language.ts";
import type { RemoteName } from "./manifest.ts";
import type { Visitor } from "./sharing.ts";
import type { Vault } from "./vault.ts";

export type ThemeName = "light" | "dark";

export interface PortalUser {
  /** Immutable id of the account; what sealed documents name. */
  readonly userId: string;
  /** Name shown to people; may change. */
  readonly userName: string;
  readonly contactEmail: string | null;
}

export interface PortalVendor {
  readonly vendorId: string;
  readonly branding: { readonly productName: string };
  /** What the vendor tells or offers on Home, newest first. */
  readonly messages: readonly PortalMessage[];
  /**
   * Where people pay, at the vendor's payment provider; left out where nothing is paid. No card
   * data passes the portal.
   */
  readonly paymentsUrl?: string | undefined;
}

/** Plain text in every language of the portal; `link` is an address to go to. */
export interface PortalMessage {
  readonly id: string;
  readonly title: Readonly<Record<Language, string>>;
  readonly body: Readonly<Record<Language, string>>;
  readonly link?: string | undefined;
}

export interface ConfirmOptions {
  readonly title: string;
  readonly description: string;
  /** Defaults to "Yes" and "Cancel" in the person's language. */
  readonly confirmLabel?: string;
  readonly cancelLabel?: string;
  readonly alert?: boolean;
  /** Confirming loses something: it is the dangerous button, and the other one the main one. */
  readonly danger?: boolean;
  /** One button only: nothing to decide. */
  readonly singleButton?: boolean;
  /** Neither Escape nor a click outside closes it. */
  readonly mustAnswer?: boolean;
}

export interface Notice {
  readonly tone: "success" | "info" | "error";
  readonly text: string;
}

/** A failure that a remote reports. It names no secret and has no message of another library. */
export interface FailureReport {
  readonly remote: RemoteName;
  readonly phase: "load" | "render" | "call";
  readonly code: ErrorCode;
}

/**
 * `lock`: put keys and plaintext away. `sign_out`: the same, and what this device keeps for a
 * shared computer too.
 */
export type LockReason = "lock" | "sign_out";

/** The portal as a remote sees it. Frozen; a new object is made when a member changes. */
export interface Portal {
  /**
   * Calls to the service, limited to the paths that the release declares. There is no way to read
   * the token.
   */
  readonly http: HttpClient;
  /** All sealing. Rejects with `vault_unavailable` when the recovery remote does not load. */
  readonly vault: Promise<Vault>;
  /**
   * What a page opened by a link does, without an account's keys. Rejects with `vault_unavailable`
   * when the recovery remote does not load.
   */
  readonly visitor: Promise<Visitor>;
  readonly user: PortalUser;
  readonly vendor: PortalVendor;
  readonly features: Readonly<Record<string, boolean>>;
  /**
   * Cloud drives that this deployment is registered with. None without the capability: the picture
   * field is drawn in every remote's forms.
   */
  readonly drives: Readonly<Drives>;
  readonly language: Language;
  readonly theme: ThemeName;
  /** Of the application, as the deployment says: `0.3.1`. */
  readonly appVersion: string;
  /**
   * What the person chose, for all pages, and kept. With the capability `preferences`; a new portal
   * object follows.
   */
  readonly setLanguage: (language: Language) => void;
  readonly setTheme: (theme: ThemeName) => void;
  /** Goes to a path of the portal. */
  readonly navigate: (path: string, options?: { readonly replace?: boolean }) => void;
  /** Asks in a dialog; false when it was closed. */
  readonly confirm: (request: ConfirmOptions) => Promise<boolean>;
  /** A toast, 5 s, top right. */
  readonly notify: (notice: Notice) => void;
  /**
   * Asks the person to sign in once more, in a window beside the page; afterwards calls are made
   * with the fresh sign-in. Call it from a click. Rejects as the member of `PortalForServices`
   * does.
   */
  readonly signInAgain: () => Promise<void>;
  readonly report: (report: FailureReport) => void;
  /**
   * Calls the listener before the portal locks or signs out, and waits for it up to a time limit.
   * Returns its undo.
   */
  readonly onLock: (listener: (reason: LockReason) => void | Promise<void>) => () => void;
}

export const PortalContext = createContext<Portal | null>(null);

/** The portal. Only inside a remote's screens. */
export function usePortal(): Portal {
  const portal = useContext(PortalContext);
  if (portal === null) throw new TypeError("usePortal is used outside the portal");
  return portal;
}
