import type { GrantOf } from "../auth/grants.ts";

export interface AnswerKey {
  readonly accountId: string;
  readonly requestId: string;
  readonly answerId: string;
}

/** Not exported: only this file can create an {@link AnswerScope}. */
const scopeBrand = Symbol("granted");

/**
 * The answer that a call may write, without a session: its token was issued to the holder of the
 * link.
 */
export interface AnswerScope extends AnswerKey {
  readonly [scopeBrand]: true;
}

/** Null when the token is for another answer than the one in the path. */
export function authorizeAnswer(grant: GrantOf<"answer"> | null, answerId: string): AnswerScope | null {
  return grant?.answer === answerId
    ? { accountId: grant.account, requestId: grant.request, answerId, [scopeBrand]: true }
    : null;
}
