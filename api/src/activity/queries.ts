import { activityDays, activityKinds, type ActivityQuery } from "@relicario/shared/api";
import { and, desc, eq, inArray, lt, lte } from "drizzle-orm";
import type { z } from "zod";

import type { Db } from "../db/database.ts";
import { activity } from "../db/schema.ts";
import { deleteInBatches, forEachAccount, type Sweeping } from "../operations/sweeping.ts";
import type { OwnActivity } from "./policy.ts";

export type ActivityRow = typeof activity.$inferSelect;

/** Newest first, from before an entry on. */
export function readActivity(
  db: Db,
  { accountId }: OwnActivity,
  { topic, before, limit }: z.output<typeof ActivityQuery>,
): Promise<ActivityRow[]> {
  return db
    .select()
    .from(activity)
    .where(
      and(
        eq(activity.accountId, accountId),
        before === undefined ? undefined : lt(activity.id, before),
        topic === undefined ? undefined : inArray(activity.kind, [...activityKinds[topic]]),
      ),
    )
    .orderBy(desc(activity.id))
    .limit(limit);
}

/** What is older than 90 days. */
export function dropOldActivity(db: Db, sweeping: Sweeping): Promise<void> {
  const { accountId, id, at } = activity;
  const due = lte(at, new Date(sweeping.now.getTime() - activityDays * 86_400_000));
  return forEachAccount(db, sweeping, { accountId, due }, (account) =>
    deleteInBatches(sweeping, (rows) => {
      const mine = and(eq(accountId, account), due);
      return db
        .delete(activity)
        .where(and(mine, inArray(id, db.select({ id }).from(activity).where(mine).limit(rows))));
    }),
  );
}
