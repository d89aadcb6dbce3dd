import { and, eq, gt, inArray, lte } from "drizzle-orm";

import type { Actor } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { deviceLinks, publicIds, sessions } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { forEachAccount, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";
import type { SignIn } from "./policy.ts";

export type DeviceLinkRow = typeof deviceLinks.$inferSelect;

/** A device link that has not expired, with the sign-ins of its writer and of the caller. */
export interface LinkWithSignIns {
  readonly link: DeviceLinkRow;
  readonly filledBy: SignIn;
  readonly caller: SignIn;
}

/** @throws Problem `not_found`. */
export async function requireLink(
  db: Db | Tx,
  { accountId, sessionId }: Actor,
  linkId: string,
  now: Date,
): Promise<LinkWithSignIns> {
  const [link] = await db
    .select()
    .from(deviceLinks)
    .where(and(eq(deviceLinks.accountId, accountId), eq(deviceLinks.linkId, linkId), gt(deviceLinks.expiresAt, now)));
  if (link === undefined) throw new Problem("not_found");
  const sessionRows = await db
    .select({ sessionId: sessions.id, providerSessionId: sessions.providerSessionId })
    .from(sessions)
    .where(and(eq(sessions.accountId, accountId), inArray(sessions.id, [link.filledBySessionId, sessionId])));
  const findSignIn = (id: string): SignIn =>
    sessionRows.find((row) => row.sessionId === id) ?? { sessionId: id, providerSessionId: null };
  return { link, filledBy: findSignIn(link.filledBySessionId), caller: findSignIn(sessionId) };
}

export async function insertLink(tx: Tx, row: typeof deviceLinks.$inferInsert): Promise<void> {
  await tx.insert(deviceLinks).values(row);
}

export async function writeAnswer(
  tx: Tx,
  { accountId, linkId }: DeviceLinkRow,
  answer: string,
  answeredBySessionId: string,
): Promise<void> {
  await tx
    .update(deviceLinks)
    .set({ answer, answeredBySessionId })
    .where(and(eq(deviceLinks.accountId, accountId), eq(deviceLinks.linkId, linkId)));
}

/** Deletes expired device links and their public ids. */
export function deleteExpiredLinks({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { accountId, linkId, expiresAt } = deviceLinks;
  const dueCondition = lte(expiresAt, context.now);
  return forEachAccount(db, context, { accountId, dueCondition }, (dueAccountId) =>
    db.transaction(async (tx) => {
      const deletedRows = await tx
        .delete(deviceLinks)
        .where(and(eq(accountId, dueAccountId), dueCondition))
        .returning({ linkId });
      const ids = deletedRows.map((link) => link.linkId);
      if (ids.length > 0)
        await tx.delete(publicIds).where(and(inArray(publicIds.publicId, ids), eq(publicIds.kind, "mailbox")));
    }),
  );
}
