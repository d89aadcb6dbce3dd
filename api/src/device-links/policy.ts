import { Problem } from "../http/problem.ts";

/**
 * A session, with the provider's where its token names one: a renewed token is another session of
 * the same sign-in.
 */
export interface SignIn {
  readonly sessionId: string;
  readonly providerSessionId: string | null;
}

export function isSameSignIn(left: SignIn, right: SignIn): boolean {
  return (
    left.sessionId === right.sessionId ||
    (left.providerSessionId !== null && left.providerSessionId === right.providerSessionId)
  );
}

/** Requires another sign-in than the message's writer's. @throws Problem `forbidden`. */
export function requireOtherSignIn(filledBy: SignIn, caller: SignIn): void {
  if (isSameSignIn(filledBy, caller)) throw new Problem("forbidden", { detail: "another sign-in must answer" });
}

/** Requires the sign-in that wrote the message. @throws Problem `forbidden`. */
export function requireSameSignIn(filledBy: SignIn, caller: SignIn): void {
  if (!isSameSignIn(filledBy, caller))
    throw new Problem("forbidden", { detail: "the answer is for the sign-in that wrote the message" });
}
