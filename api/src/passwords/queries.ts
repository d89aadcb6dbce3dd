import { and, eq, isNull, ne, or } from "drizzle-orm";

import { recordActivity } from "../activity/record-activity.ts";
import type { Actor } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { sessions } from "../db/schema.ts";

/** The provider's session of the caller; null if unknown. */
export async function readProviderSessionId(db: Db, { accountId, sessionId }: Actor): Promise<string | null> {
  const [session] = await db
    .select({ providerSessionId: sessions.providerSessionId })
    .from(sessions)
    .where(and(eq(sessions.accountId, accountId), eq(sessions.id, sessionId)));
  return session?.providerSessionId ?? null;
}

/**
 * Revokes an account's sessions, except the caller's and those of the same provider session. Only a
 * new sign-in gets a session again.
 */
export async function revokeOtherSessions(
  tx: Tx,
  accountId: string,
  { sessionId }: Actor,
  providerSessionId: string | null,
  now: Date,
): Promise<void> {
  const otherSessionCondition =
    providerSessionId === null
      ? ne(sessions.id, sessionId)
      : and(
          ne(sessions.id, sessionId),
          or(isNull(sessions.providerSessionId), ne(sessions.providerSessionId, providerSessionId)),
        );
  await tx
    .update(sessions)
    .set({ revokedAt: now })
    .where(and(eq(sessions.accountId, accountId), isNull(sessions.revokedAt), otherSessionCondition));
  await recordActivity(tx, accountId, [{ kind: "password_changed" }], now);
}
