import { sessionRetentionDays } from "@relicario/shared/api";
import { and, desc, eq, gt, isNull, not, sql } from "drizzle-orm";

import { recordActivity } from "../activity/record-activity.ts";
import type { Actor } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { sessions } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { findProviderSessionId, matchesSignIn } from "./exchange.ts";

type SessionRow = typeof sessions.$inferSelect;

/** A sign-in by its newest session, and whether the one that asks is among them. */
export interface SignIn {
  readonly session: SessionRow;
  readonly current: boolean;
}

/** Those that nobody ended, the last seen first. */
export async function readSignIns(db: Db, { accountId, sessionId }: Actor, now: Date): Promise<SignIn[]> {
  const signInKey = sql`coalesce(${sessions.providerSession}, ${sessions.id}::text)`;
  const isCurrent = sql<boolean>`bool_or(${sessions.id} = ${sessionId}) over (partition by ${signInKey})`;
  const rows = await db
    .selectDistinctOn([signInKey], { session: sessions, current: isCurrent })
    .from(sessions)
    .where(
      and(
        eq(sessions.accountId, accountId),
        isNull(sessions.revokedAt),
        gt(sessions.createdAt, new Date(now.getTime() - sessionRetentionDays * 86_400_000)),
      ),
    )
    .orderBy(signInKey, desc(sessions.createdAt));
  // a token that is over, and nothing it came from
  const liveSignIns = rows.filter(({ session }) => session.providerSession !== null || session.expiresAt > now);
  return liveSignIns.toSorted(
    (a, b) => Number(b.current) - Number(a.current) || b.session.createdAt.getTime() - a.session.createdAt.getTime(),
  );
}

/**
 * Ends a sign-in from elsewhere, see [Note: Exchange and sign-out]. With the account held. @throws
 * Problem `not_found`
 */
export async function closeSignIn(tx: Tx, { accountId }: Actor, id: string, now: Date): Promise<void> {
  const providerSessionId = await findProviderSessionId(tx, accountId, id);
  if (providerSessionId === undefined) throw new Problem("not_found");
  await closeSessions(tx, accountId, matchesSignIn(id, providerSessionId), now);
}

/** Ends all but the one that asks. With the account held. */
export async function closeOtherSignIns(tx: Tx, { accountId, sessionId }: Actor, now: Date): Promise<void> {
  const isOwnSignIn = matchesSignIn(sessionId, (await findProviderSessionId(tx, accountId, sessionId)) ?? null);
  // null: a session that names no provider's
  if (isOwnSignIn !== undefined) await closeSessions(tx, accountId, sql`coalesce(${not(isOwnSignIn)}, true)`, now);
}

async function closeSessions(
  tx: Tx,
  accountId: string,
  condition: ReturnType<typeof matchesSignIn>,
  now: Date,
): Promise<void> {
  const endedAt = new Date(); // as with a sign-out: tokens of an exchange that went before are not younger
  const endedSessions = await tx
    .update(sessions)
    .set({ revokedAt: endedAt, closedAt: endedAt })
    .where(and(eq(sessions.accountId, accountId), isNull(sessions.revokedAt), condition))
    .returning({
      id: sessions.id,
      providerSession: sessions.providerSession,
      device: sessions.device,
      address: sessions.address,
      createdAt: sessions.createdAt,
    });
  const newestBySignIn = new Map<string, (typeof endedSessions)[number]>();
  for (const row of endedSessions.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime()))
    newestBySignIn.set(row.providerSession ?? row.id, row);
  await recordActivity(
    tx,
    accountId,
    [...newestBySignIn.values()].map(({ device, address }) => ({ kind: "session_ended", device, address })),
    now,
  );
}
