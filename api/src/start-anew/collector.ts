import { setAsideDays, startAnewLapseDays } from "@relicario/shared/api";
import { and, eq, inArray, isNotNull, isNull, lte, or } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { requests, secretsSetAside, startAnews } from "../db/schema.ts";
import { lockAccount } from "../keyring/queries.ts";
import { forEachAccount, type Sweeping } from "../operations/sweeping.ts";
import { dropContent } from "../requests/queries.ts";
import { addStorage, deleteVersions, octetLength } from "../secrets/queries.ts";

/** In one transaction: each can have fifty versions of a thousand objects. */
const atOnce = 20;

const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * 86_400_000);

/**
 * What accounts had before they were started anew 30 days ago: secrets, then what came for
 * requests, then the note that it was so.
 */
export async function dropSetAside(db: Db, sweeping: Sweeping): Promise<void> {
  await dropSecrets(db, sweeping);
  await dropAnswers(db, sweeping);
}

function dropSecrets(db: Db, sweeping: Sweeping): Promise<void> {
  const { accountId, id, label, setAsideAt } = secretsSetAside;
  const due = lte(setAsideAt, daysBefore(sweeping.now, setAsideDays));
  const dropSome = (account: string): Promise<number> =>
    db.transaction(async (tx) => {
      const { vendorId } = await lockAccount(tx, account);
      const some = await tx
        .select({ id, labelBytes: octetLength(label) })
        .from(secretsSetAside)
        .where(and(eq(accountId, account), due))
        .limit(atOnce);
      if (some.length === 0) return 0;
      const ids = some.map((row) => row.id);
      const freed = await deleteVersions(tx, { accountId: account, vendorId }, ids, sweeping.now);
      await tx.delete(secretsSetAside).where(and(eq(accountId, account), inArray(id, ids)));
      await addStorage(tx, account, -some.reduce((sum, { labelBytes }) => sum + labelBytes, freed));
      return some.length;
    });
  return forEachAccount(db, sweeping, { accountId, due }, async (account) => {
    while ((await dropSome(account)) === atOnce && !sweeping.signal.aborted);
  });
}

/**
 * Answers that came before a new beginning, and all notes of what was asked for that are of no use
 * any more.
 */
function dropAnswers(db: Db, sweeping: Sweeping): Promise<void> {
  const { accountId, ending, endedAt, readyAt } = startAnews;
  const over = lte(endedAt, daysBefore(sweeping.now, setAsideDays));
  const lapsed = and(isNull(endedAt), lte(readyAt, daysBefore(sweeping.now, startAnewLapseDays)));
  const due = or(over, lapsed);
  return forEachAccount(db, sweeping, { accountId, due }, (account) =>
    db.transaction(async (tx) => {
      await lockAccount(tx, account);
      const [begun] = await tx
        .select({ endedAt })
        .from(startAnews)
        .where(and(eq(accountId, account), eq(ending, "begun"), over));
      if (begun?.endedAt != null) {
        const before = and(
          eq(requests.accountId, account),
          isNotNull(requests.answerId),
          lte(requests.createdAt, begun.endedAt),
        );
        let freed = 0;
        for (const request of await tx.select().from(requests).where(before))
          freed += await dropContent(tx, request, sweeping.now);
        await addStorage(tx, account, -freed);
      }
      await tx.delete(startAnews).where(and(eq(accountId, account), due));
    }),
  );
}
