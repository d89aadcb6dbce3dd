import { sessionDays } from "@relicario/shared/api";
import { and, desc, eq, gt, isNull, not, sql } from "drizzle-orm";

import { note } from "../activity/note.ts";
import { providerSessionOf, sameSignIn } from "../auth/queries.ts";
import type { Db, Tx } from "../db/database.ts";
import { sessions } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { OwnSessions } from "./policy.ts";

export type SessionRow = typeof sessions.$inferSelect;

/** A sign-in by its newest session, and whether the one that asks is among them. */
export interface SignIn {
  readonly session: SessionRow;
  readonly current: boolean;
}

/** Those that nobody ended, the last seen first. */
export async function readSignIns(db: Db, { accountId, sessionId }: OwnSessions, now: Date): Promise<SignIn[]> {
  const signIn = sql`coalesce(${sessions.providerSession}, ${sessions.id}::text)`;
  const asking = sql<boolean>`bool_or(${sessions.id} = ${sessionId}) over (partition by ${signIn})`;
  const rows = await db
    .selectDistinctOn([signIn], { session: sessions, current: asking })
    .from(sessions)
    .where(
      and(
        eq(sessions.accountId, accountId),
        isNull(sessions.revokedAt),
        gt(sessions.createdAt, new Date(now.getTime() - sessionDays * 86_400_000)),
      ),
    )
    .orderBy(signIn, desc(sessions.createdAt));
  // a token that is over, and nothing it came from
  const live = rows.filter(({ session }) => session.providerSession !== null || session.expiresAt > now);
  return live.toSorted(
    (one, other) =>
      Number(other.current) - Number(one.current) ||
      other.session.createdAt.getTime() - one.session.createdAt.getTime(),
  );
}

/**
 * Ends a sign-in from elsewhere, see [Note: Exchange and sign-out]. With the account held. @throws
 * Problem `not_found`
 */
export async function closeSignIn(tx: Tx, { accountId }: OwnSessions, id: string, now: Date): Promise<void> {
  const providerSession = await providerSessionOf(tx, accountId, id);
  if (providerSession === undefined) throw new Problem("not_found");
  await close(tx, accountId, sameSignIn(id, providerSession), now);
}

/** Ends all but the one that asks. With the account held. */
export async function closeOtherSignIns(tx: Tx, { accountId, sessionId }: OwnSessions, now: Date): Promise<void> {
  const own = sameSignIn(sessionId, (await providerSessionOf(tx, accountId, sessionId)) ?? null);
  // null: a session that names no provider's
  if (own !== undefined) await close(tx, accountId, sql`coalesce(${not(own)}, true)`, now);
}

async function close(tx: Tx, accountId: string, which: ReturnType<typeof sameSignIn>, now: Date): Promise<void> {
  const at = new Date(); // as with a sign-out: tokens of an exchange that went before are not younger
  const ended = await tx
    .update(sessions)
    .set({ revokedAt: at, closedAt: at })
    .where(and(eq(sessions.accountId, accountId), isNull(sessions.revokedAt), which))
    .returning({
      id: sessions.id,
      providerSession: sessions.providerSession,
      device: sessions.device,
      address: sessions.address,
      createdAt: sessions.createdAt,
    });
  const newest = new Map<string, (typeof ended)[number]>();
  for (const row of ended.toSorted((one, other) => one.createdAt.getTime() - other.createdAt.getTime()))
    newest.set(row.providerSession ?? row.id, row);
  await note(
    tx,
    accountId,
    [...newest.values()].map(({ device, address }) => ({ kind: "session_ended", device, address })),
    now,
  );
}
