import type { Actor } from "../auth/session-tokens.ts";

export interface OwnSessions {
  readonly accountId: string;
  /** The one that asks. */
  readonly sessionId: string;
}

/**
 * Every session of an account sees the others and may end them: whoever notices a stranger needs no
 * more than a device of their own.
 */
export function sessionsPolicy({ accountId, sessionId }: Actor): OwnSessions {
  return { accountId, sessionId };
}
