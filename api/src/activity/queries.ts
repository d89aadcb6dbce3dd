import { activityRetentionDays, activityKindsByTopic, type ActivityQuery } from "@relicario/shared/api";
import { and, desc, eq, inArray, lt, lte } from "drizzle-orm";
import type { z } from "zod";

import type { AccountScope } from "../auth/actor.ts";
import type { Db } from "../db/database.ts";
import { activity } from "../db/schema.ts";
import { deleteDueRows, type SweepContext } from "../resource/sweep-context.ts";

export type ActivityRow = typeof activity.$inferSelect;

/** Reads entries, newest first; `cursor` is the id of the entry to continue after. */
export function readActivity(
  db: Db,
  { accountId }: AccountScope,
  { topic, cursor, limit }: z.output<typeof ActivityQuery>,
): Promise<ActivityRow[]> {
  return db
    .select()
    .from(activity)
    .where(
      and(
        eq(activity.accountId, accountId),
        cursor === undefined ? undefined : lt(activity.id, cursor),
        topic === undefined ? undefined : inArray(activity.kind, [...activityKindsByTopic[topic]]),
      ),
    )
    .orderBy(desc(activity.id))
    .limit(limit);
}

export function deleteExpiredActivity({ db }: { readonly db: Db }, context: SweepContext): Promise<void> {
  const { accountId, id, at } = activity;
  const dueCondition = lte(at, new Date(context.now.getTime() - activityRetentionDays * 86_400_000));
  return deleteDueRows(db, context, [accountId, id], dueCondition);
}
