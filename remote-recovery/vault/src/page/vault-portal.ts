import type { HttpClient, PortalForServices, PortalServiceMembers } from "@relicario/shared/contract";

import type { MarkQuestion } from "../seal/mark.ts";
import type { FreshSignIn } from "../sign-in/sign-in-gate.ts";

/** What the vault uses of the portal. */
export interface VaultPortal
  extends
    Pick<PortalForServices, "vendorId" | "account">,
    Pick<PortalServiceMembers, "signInAgain" | "takeLinkSecret"> {
  readonly http: HttpClient;
  /**
   * Asks for a sign-in that unlocks this device, and verifies it: see [Note: Sign-in gate].
   *
   * @param maxAge seconds since the lock
   */
  readonly signInToUnlock: (maxAge: number) => Promise<FreshSignIn>;
  /** The same without asking the person. Rejects where the provider has no newer session. */
  readonly signInSilently: (maxAge: number) => Promise<FreshSignIn>;
  /** Asks the person whether the mark is theirs. Rejects with `cancelled`. */
  readonly confirmMark: (question: MarkQuestion) => Promise<boolean>;
}
