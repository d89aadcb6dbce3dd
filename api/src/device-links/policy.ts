import { Problem } from "../http/problem.ts";

/**
 * A session, with the provider's own where its token names one. A renewed token is another session
 * from the same sign-in.
 */
export interface SignIn {
  readonly id: string;
  readonly providerSession: string | null;
}

export function isSameSignIn(left: SignIn, right: SignIn): boolean {
  return left.id === right.id || (left.providerSession !== null && left.providerSession === right.providerSession);
}

/** What was asked is for others than who asked. @throws Problem `forbidden`. */
export function requireOtherSignIn(filledBy: SignIn, caller: SignIn): void {
  if (isSameSignIn(filledBy, caller))
    throw new Problem("forbidden", { detail: "this session filled the mailbox; another one answers it" });
}

/** The answer is for who asked. @throws Problem `forbidden`. */
export function requireSameSignIn(filledBy: SignIn, caller: SignIn): void {
  if (!isSameSignIn(filledBy, caller))
    throw new Problem("forbidden", { detail: "the answer is for the session that filled the mailbox" });
}
