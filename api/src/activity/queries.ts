import { activityRetentionDays, activityKindsByTopic, type ActivityQuery } from "@relicario/shared/api";
import { and, desc, eq, inArray, lt, lte } from "drizzle-orm";
import type { z } from "zod";

import type { AccountScope } from "../auth/actor.ts";
import type { Db } from "../db/database.ts";
import { activity } from "../db/schema.ts";
import { deleteInBatches, forEachAccount, type SweepContext } from "../resource/sweep-context.ts";

export type ActivityRow = typeof activity.$inferSelect;

/** Newest first, from before an entry on. */
export function readActivity(
  db: Db,
  { accountId }: AccountScope,
  { topic, before, limit }: z.output<typeof ActivityQuery>,
): Promise<ActivityRow[]> {
  return db
    .select()
    .from(activity)
    .where(
      and(
        eq(activity.accountId, accountId),
        before === undefined ? undefined : lt(activity.id, before),
        topic === undefined ? undefined : inArray(activity.kind, [...activityKindsByTopic[topic]]),
      ),
    )
    .orderBy(desc(activity.id))
    .limit(limit);
}

/** What is older than 90 days. */
export function deleteExpiredActivity({ db }: { readonly db: Db }, context: SweepContext): Promise<void> {
  const { accountId, id, at } = activity;
  const isDue = lte(at, new Date(context.now.getTime() - activityRetentionDays * 86_400_000));
  return forEachAccount(db, context, { accountId, due: isDue }, (dueAccountId) =>
    deleteInBatches(context, (batchSize) => {
      const isDueInAccount = and(eq(accountId, dueAccountId), isDue);
      return db
        .delete(activity)
        .where(
          and(isDueInAccount, inArray(id, db.select({ id }).from(activity).where(isDueInAccount).limit(batchSize))),
        );
    }),
  );
}
