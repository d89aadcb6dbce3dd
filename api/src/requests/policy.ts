import type { GrantOf } from "../auth/grants.ts";
import type { Actor } from "../auth/session-tokens.ts";

export interface RequestsScope {
  readonly accountId: string;
  readonly vendorId: string;
}

/**
 * Requests are made, listed, collected and dropped by their owner alone: rows are looked for under
 * the actor's own account.
 */
export function authorizeRequests({ accountId, vendorId }: Actor): RequestsScope {
  return { accountId, vendorId };
}

/**
 * Which answer a call may write to. Nobody needs a session for it: it was given to whoever had the
 * link.
 */
export interface AnswerScope {
  readonly accountId: string;
  readonly requestId: string;
  readonly answerId: string;
}

/** Null when the token is for another answer than the one in the address. */
export function authorizeAnswer(grant: GrantOf<"answer"> | null, answerId: string): AnswerScope | null {
  return grant?.answer === answerId ? { accountId: grant.account, requestId: grant.request, answerId } : null;
}
