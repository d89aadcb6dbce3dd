import { and, eq, inArray, isNull, ne, or } from "drizzle-orm";

import { recordActivity } from "../activity/record-activity.ts";
import type { Actor } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { identities, sessions } from "../db/schema.ts";

export interface SignedInIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** The provider's session that this one came from; null where its token named none. */
  readonly providerSession: string | null;
}

export async function readIdentity(db: Db, { accountId, vendorId, sessionId }: Actor): Promise<SignedInIdentity> {
  const [identity] = await db
    .select({ issuer: identities.issuer, subject: identities.subject })
    .from(identities)
    .where(and(eq(identities.accountId, accountId), eq(identities.vendorId, vendorId)));
  const [session] = await db
    .select({ providerSession: sessions.providerSession })
    .from(sessions)
    .where(and(eq(sessions.accountId, accountId), eq(sessions.id, sessionId)));
  if (identity === undefined) throw new Error("an account without its identity");
  return { ...identity, providerSession: session?.providerSession ?? null };
}

/** The accounts of this person at these vendors. */
export async function findAccountIds(
  db: Db,
  vendorIds: readonly string[],
  { issuer, subject }: SignedInIdentity,
): Promise<string[]> {
  const rows = await db
    .select({ accountId: identities.accountId })
    .from(identities)
    .where(
      and(inArray(identities.vendorId, [...vendorIds]), eq(identities.issuer, issuer), eq(identities.subject, subject)),
    );
  return rows.map(({ accountId }) => accountId);
}

/**
 * Ends all sessions of an account but this one, and those that came from the same session of the
 * provider. The ended ones begin anew with a new sign-in alone.
 */
export async function endOtherSessions(
  tx: Tx,
  accountId: string,
  { sessionId }: Actor,
  { providerSession }: SignedInIdentity,
  now: Date,
): Promise<void> {
  const endedAt = new Date(); // now, not when the call came: tokens of an exchange that went before are not younger
  const isOtherSession =
    providerSession === null
      ? ne(sessions.id, sessionId)
      : and(
          ne(sessions.id, sessionId),
          or(isNull(sessions.providerSession), ne(sessions.providerSession, providerSession)),
        );
  await tx
    .update(sessions)
    .set({ revokedAt: endedAt, closedAt: endedAt })
    .where(and(eq(sessions.accountId, accountId), isNull(sessions.revokedAt), isOtherSession));
  await recordActivity(tx, accountId, [{ kind: "password_changed" }], now);
}
