import { maxListedSignIns, sessionRetentionDays } from "@relicario/shared/api";
import { and, desc, eq, gt, isNull, lte, not, or, sql, type SQL } from "drizzle-orm";

import { recordActivity } from "../activity/record-activity.ts";
import type { Actor } from "../auth/actor.ts";
import type { ProviderLogout } from "../auth/identity-provider.ts";
import type { Db, Tx } from "../db/database.ts";
import { sessions } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { deleteDueRows, type SweepContext } from "../resource/sweep-context.ts";
import { findProviderSessionId, whereSignIn } from "./exchange.ts";

type SessionRow = typeof sessions.$inferSelect;

/** A sign-in by its newest session, and whether the caller's session belongs to it. */
export interface SignIn {
  readonly newestSession: SessionRow;
  readonly isCurrent: boolean;
}

/** Sign-ins that were not revoked: the caller's first, then the newest {@link maxListedSignIns}. */
export async function readSignIns(db: Db, { accountId, sessionId }: Actor, now: Date): Promise<SignIn[]> {
  const signInKey = sql`coalesce(${sessions.providerSessionId}, ${sessions.id}::text)`;
  const currentCondition = sql<boolean>`bool_or(${sessions.id} = ${sessionId}) over (partition by ${signInKey})`;
  const rows = await db
    .selectDistinctOn([signInKey], { newestSession: sessions, isCurrent: currentCondition })
    .from(sessions)
    .where(
      and(
        eq(sessions.accountId, accountId),
        isNull(sessions.revokedAt),
        gt(sessions.createdAt, new Date(now.getTime() - sessionRetentionDays * 86_400_000)),
      ),
    )
    .orderBy(signInKey, desc(sessions.createdAt));
  // without a provider session, an expired token is all there is
  const liveSignIns = rows.filter(
    ({ newestSession }) => newestSession.providerSessionId !== null || newestSession.expiresAt > now,
  );
  return liveSignIns
    .toSorted(
      (a, b) =>
        Number(b.isCurrent) - Number(a.isCurrent) ||
        b.newestSession.createdAt.getTime() - a.newestSession.createdAt.getTime(),
    )
    .slice(0, maxListedSignIns);
}

/**
 * Revokes a sign-in, see [Note: Exchange and sign-out]. The account must be locked.
 * @throws Problem `not_found`
 */
export async function revokeSignIn(tx: Tx, { accountId }: Actor, sessionId: string, now: Date): Promise<void> {
  const providerSessionId = await findProviderSessionId(tx, accountId, sessionId);
  if (providerSessionId === undefined) throw new Problem("not_found");
  await revokeSessions(tx, accountId, whereSignIn(sessionId, providerSessionId), now);
}

/** Revokes all other sign-ins. The account must be locked. */
export async function revokeOtherSignIns(tx: Tx, { accountId, sessionId }: Actor, now: Date): Promise<void> {
  const ownSignInCondition = whereSignIn(sessionId, (await findProviderSessionId(tx, accountId, sessionId)) ?? null);
  // null for sessions without a provider session
  if (ownSignInCondition !== undefined)
    await revokeSessions(tx, accountId, sql`coalesce(${not(ownSignInCondition)}, true)`, now);
}

/** Accounts with a session that is not revoked of this session of the provider. */
export async function findSignedInAccountIds(db: Db, providerSessionId: string): Promise<string[]> {
  const rows = await db
    .selectDistinct({ accountId: sessions.accountId })
    .from(sessions)
    .where(and(eq(sessions.providerSessionId, providerSessionId), isNull(sessions.revokedAt)));
  return rows.map(({ accountId }) => accountId);
}

/**
 * Revokes what a sign-out at the provider ended: one of its sessions, else all. Keeps later
 * sign-ins, so that a token that comes again ends nothing. The account must be locked.
 */
export async function revokeProviderSignIns(
  tx: Tx,
  accountId: string,
  { providerSessionId, at }: Pick<ProviderLogout, "providerSessionId" | "at">,
  now: Date,
): Promise<void> {
  const isEarlier = or(
    lte(sessions.signedInAt, new Date(at.providerSeconds * 1_000)),
    and(isNull(sessions.signedInAt), lte(sessions.createdAt, new Date((at.localSeconds + 1) * 1_000))),
  );
  const isOfSession = providerSessionId === null ? undefined : eq(sessions.providerSessionId, providerSessionId);
  await revokeSessions(tx, accountId, and(isEarlier, isOfSession), now);
}

/** Revokes an account's sessions that meet the condition. The account must be locked. */
export async function revokeSessions(tx: Tx, accountId: string, condition: SQL | undefined, now: Date): Promise<void> {
  const revokedSessions = await tx
    .update(sessions)
    .set({ revokedAt: now })
    .where(and(eq(sessions.accountId, accountId), isNull(sessions.revokedAt), condition))
    .returning({
      id: sessions.id,
      providerSessionId: sessions.providerSessionId,
      device: sessions.device,
      address: sessions.address,
      createdAt: sessions.createdAt,
    });
  const newestBySignIn = new Map<string, (typeof revokedSessions)[number]>();
  for (const row of revokedSessions.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime()))
    newestBySignIn.set(row.providerSessionId ?? row.id, row);
  await recordActivity(
    tx,
    accountId,
    [...newestBySignIn.values()].map(({ device, address }) => ({ kind: "session_ended", device, address })),
    now,
  );
}

/** Deletes expired sessions of all accounts; an exchange deletes only those of its own account. */
export function deleteExpiredSessions({ db }: { readonly db: Db }, context: SweepContext): Promise<void> {
  const { accountId, id, expiresAt } = sessions;
  // by the real clock, by which exchanges set the expiry
  const dueCondition = lte(expiresAt, new Date(Date.now() - sessionRetentionDays * 86_400_000));
  return deleteDueRows(db, context, [accountId, id], dueCondition);
}
