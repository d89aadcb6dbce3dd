import type { SendFeedback } from "@relicario/shared/api";
import { and, eq, lte } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import type { Db, Tx } from "../db/database.ts";
import { feedback } from "../db/schema.ts";
import { forEachAccount, type Sweeping } from "../operations/sweeping.ts";

/** What people write is not kept for ever. */
const feedbackDays = 365;

export async function keepFeedback(
  tx: Tx,
  accountId: string,
  { rating, message, page, app_version: appVersion }: SendFeedback,
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

export function dropOldFeedback(db: Db, sweeping: Sweeping): Promise<void> {
  const { accountId, createdAt } = feedback;
  const due = lte(createdAt, new Date(sweeping.now.getTime() - feedbackDays * 86_400_000));
  return forEachAccount(db, sweeping, { accountId, due }, (account) =>
    db.delete(feedback).where(and(eq(accountId, account), due)),
  );
}
