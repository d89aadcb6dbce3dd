import type { Actor } from "../auth/session-tokens.ts";

export interface SessionsScope {
  readonly accountId: string;
  /** The one that asks. */
  readonly sessionId: string;
}

/**
 * Every session of an account sees the others and may end them: whoever notices a stranger needs no
 * more than a device of their own.
 */
export function authorizeSessions({ accountId, sessionId }: Actor): SessionsScope {
  return { accountId, sessionId };
}
