import { ErrorResponse } from "oidc-client-ts";

import { withTimeout } from "./with-timeout.ts";

export interface SignOutDeps {
  /** Ends what holds keys and plaintext, and wipes what this device keeps. */
  readonly lockAndWipe: () => Promise<unknown>;
  /** `DELETE /auth/token`. */
  readonly endProductSession: () => Promise<unknown>;
  /** Asks the provider to revoke the tokens. */
  readonly revokeTokens: () => Promise<unknown>;
  /** Clears session token, query cache, and what this tab stored. */
  readonly clearCaches: () => void;
  /** Leaves the page for the provider's end-session address. */
  readonly redirect: () => Promise<unknown>;
  /** When the provider cannot be reached: removes the user here and loads the start page. */
  readonly leaveWithoutProvider: () => Promise<unknown>;
  readonly log: (step: string, error: unknown) => void;
}

/**
 * Time limit of each step, so that a service that is down does not keep people signed in; longer
 * than that of the lock listeners.
 */
export const signOutStepLimitMs = 6000;

/**
 * [Note: Sign-out]
 * 1. Keys and plaintext are removed from memory (listeners of `onLock`, the vault), and what this
 *    device keeps is wiped. The other tabs were told before, and do the same.
 * 2. The product session ends, then the provider's tokens are revoked: a JWT cannot be
 *    (`unsupported_token_type`), which counts as done.
 * 3. Caches are cleared.
 * 4. The provider's session ends: the browser goes there. A failure of any step is logged and the
 *    rest goes on (specification, section 8).
 */
export async function signOut(deps: SignOutDeps): Promise<void> {
  const attempt = async (step: string, run: () => unknown) => {
    try {
      await withTimeout(Promise.resolve(run()), signOutStepLimitMs);
    } catch (error) {
      if (!isUnsupportedTokenType(error)) deps.log(step, error);
    }
  };
  await attempt("lock_and_wipe", () => deps.lockAndWipe());
  await attempt("product_session", () => deps.endProductSession());
  await attempt("revocation", () => deps.revokeTokens());
  await attempt("caches", () => deps.clearCaches());
  try {
    await deps.redirect();
  } catch (error) {
    deps.log("redirect", error);
    await deps.leaveWithoutProvider();
  }
}

/**
 * True in the first of this browser's tabs that sign out at the same time, until its page is
 * unloaded. The provider ends a session in two requests, one page after the other, and two tabs
 * that do so at once disturb each other.
 */
export function isFirstToSignOut(locks: LockManager | undefined): Promise<boolean> {
  if (locks === undefined) return Promise.resolve(true);
  return new Promise((resolve) => {
    locks
      .request("sign_out", { ifAvailable: true }, (lock) => {
        resolve(lock !== null);
        return lock === null ? undefined : new Promise(() => undefined);
      })
      .catch(() => {
        resolve(true); // locks are not available here
      });
  });
}

/**
 * RFC 7009, 2.2.1: the provider does not revoke tokens of this type, so there is nothing more to
 * do.
 */
function isUnsupportedTokenType(error: unknown): boolean {
  return error instanceof ErrorResponse && error.error === "unsupported_token_type";
}
