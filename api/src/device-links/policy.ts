import type { Actor } from "../auth/session-tokens.ts";
import { Problem } from "../http/problem.ts";

export interface OwnDeviceLinks {
  readonly accountId: string;
  readonly sessionId: string;
}

/** A mailbox is between sessions of one account: rows are looked for under the actor's own. */
export function deviceLinksPolicy({ accountId, sessionId }: Actor): OwnDeviceLinks {
  return { accountId, sessionId };
}

/**
 * A session, with the provider's own where its token names one. A renewed token is another session
 * from the same sign-in.
 */
export interface SignIn {
  readonly id: string;
  readonly providerSession: string | null;
}

export function isSameSignIn(one: SignIn, other: SignIn): boolean {
  return one.id === other.id || (one.providerSession !== null && one.providerSession === other.providerSession);
}

/** What was asked is for others than who asked. @throws Problem `forbidden`. */
export function requireOther(filledBy: SignIn, reader: SignIn): void {
  if (isSameSignIn(filledBy, reader))
    throw new Problem("forbidden", { detail: "this session filled the mailbox; another one answers it" });
}

/** The answer is for who asked. @throws Problem `forbidden`. */
export function requireFirst(filledBy: SignIn, reader: SignIn): void {
  if (!isSameSignIn(filledBy, reader))
    throw new Problem("forbidden", { detail: "the answer is for the session that filled the mailbox" });
}
