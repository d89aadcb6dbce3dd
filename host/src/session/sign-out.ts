import { ErrorResponse } from "oidc-client-ts";

import { withTimeout } from "./with-timeout.ts";

export interface SignOutDeps {
  /** Releases keys and plaintext, and wipes what this device stores of the person. */
  readonly lockAndWipe: () => Promise<unknown>;
  /** `DELETE /auth/token`. */
  readonly endProductSession: () => Promise<unknown>;
  readonly revokeTokens: () => Promise<unknown>;
  /** Clears the session token, the query cache, and what this tab stored. */
  readonly clearCaches: () => void;
  /** Leaves the page for the provider's end-session endpoint. */
  readonly redirect: () => Promise<unknown>;
  /**
   * Called when the provider is unreachable. Removes the user from this tab and loads the start
   * page.
   */
  readonly leaveWithoutProvider: () => Promise<unknown>;
  readonly log: (step: string, error: unknown) => void;
}

/**
 * Time limit of each step in milliseconds. It keeps a service that is down from delaying the
 * sign-out. Longer than `lockLimitMs`.
 */
export const signOutStepLimitMs = 6000;

/**
 * [Note: Sign-out]
 * 1. Keys and plaintext are removed from memory (listeners of `onLock`, the vault). The data that
 *    this device stores of the person is wiped. The other tabs were notified before, and do the
 *    same.
 * 2. The product session ends, then the provider's tokens are revoked. The provider's error
 *    `unsupported_token_type` counts as success, because a JWT cannot be revoked.
 * 3. Caches are cleared.
 * 4. The browser goes to the provider, which ends its session.
 *
 * A failed step is logged, and the next step follows (specification, section 8).
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
 * unloaded. Only that tab goes to the provider: ending a session takes two requests, and two tabs
 * that do so at once would disturb each other.
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
        resolve(true); // the browser refuses locks
      });
  });
}

/**
 * Whether the provider does not revoke tokens of this type (RFC 7009, 2.2.1). Then there is nothing
 * to revoke.
 */
function isUnsupportedTokenType(error: unknown): boolean {
  return error instanceof ErrorResponse && error.error === "unsupported_token_type";
}
