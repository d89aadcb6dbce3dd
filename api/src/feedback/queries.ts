import type { FeedbackBody } from "@relicario/shared/api";
import { lte } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import type { Tx } from "../db/database.ts";
import { feedback } from "../db/schema.ts";
import { deleteDueRows, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";

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
  const { accountId, id, createdAt } = feedback;
  const dueCondition = lte(createdAt, new Date(context.now.getTime() - feedbackRetentionDays * 86_400_000));
  return deleteDueRows(db, context, [accountId, id], dueCondition);
}
