import type { GrantOf } from "../auth/grants.ts";

export interface AnswerKey {
  readonly accountId: string;
  readonly requestId: string;
  readonly answerId: string;
}

/** No other file can name it, so no other file makes what carries it. */
const granted = Symbol("granted");

/**
 * Which answer a call may write to. Nobody needs a session for it: it was given to whoever had the
 * link.
 */
export interface AnswerScope extends AnswerKey {
  readonly [granted]: true;
}

/** Null when the token is for another answer than the one in the address. */
export function authorizeAnswer(grant: GrantOf<"answer"> | null, answerId: string): AnswerScope | null {
  return grant?.answer === answerId
    ? { accountId: grant.account, requestId: grant.request, answerId, [granted]: true }
    : null;
}
