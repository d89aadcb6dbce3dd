import type { FeedbackBody } from "@relicario/shared/api";
import { and, eq, lte } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import type { Tx } from "../db/database.ts";
import { feedback } from "../db/schema.ts";
import { forEachAccount, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";

/** What people write is not kept for ever. */
const feedbackRetentionDays = 365;

export async function saveFeedback(
  tx: Tx,
  accountId: string,
  { rating, message, page, app_version: appVersion }: FeedbackBody,
  now: Date,
): Promise<void> {
  await tx.insert(feedback).values({
    accountId,
    id: uuidv7({ msecs: now.getTime() }),
    rating: rating ?? null,
    message,
    page,
    appVersion,
    createdAt: now,
  });
}

export function deleteExpiredFeedback({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { accountId, createdAt } = feedback;
  const isDue = lte(createdAt, new Date(context.now.getTime() - feedbackRetentionDays * 86_400_000));
  return forEachAccount(db, context, { accountId, due: isDue }, (dueAccountId) =>
    db.delete(feedback).where(and(eq(accountId, dueAccountId), isDue)),
  );
}
