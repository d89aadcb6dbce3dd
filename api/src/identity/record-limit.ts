import { AsyncLocalStorage } from "node:async_hooks";

import { getClientNetwork } from "@relicario/tooling/http";
import { errors } from "oidc-provider";

import type { RecordLimit } from "./adapter.ts";
import { attemptLimits, createSignInPageLimit, TooManyAttempts, type AttemptLimiter } from "./attempts.ts";

/** IP address of the call that the library handles. */
export const callerAddress = new AsyncLocalStorage<string>();

/** Shown as a page, since the portal would answer a redirect with another sign-in. */
export class TooManyRecords extends errors.TemporarilyUnavailable {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super("too many sign-ins from here");
    this.allow_redirect = false;
    this.status = this.statusCode = 429;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Limits the rows that an IP address can cause without a sign-in, and those that an account can
 * cause.
 */
export function createRecordLimit(
  attempts: AttemptLimiter,
  { signInPagesOfAddress }: { readonly signInPagesOfAddress: number },
): RecordLimit {
  const signInPageLimit = createSignInPageLimit(signInPagesOfAddress);
  return async (model, { accountId, result }) => {
    const isAnonymous =
      (model === "Interaction" && result === undefined) || (model === "Session" && accountId === undefined);
    try {
      if (isAnonymous) await attempts.consume(signInPageLimit, getClientNetwork(callerAddress.getStore() ?? ""));
      else if (model === "AuthorizationCode") await attempts.consume(attemptLimits.code, accountId ?? "");
    } catch (error) {
      throw error instanceof TooManyAttempts ? new TooManyRecords(error.retryAfterSeconds) : error;
    }
  };
}
