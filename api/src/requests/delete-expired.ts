import { collectedAnswerRetentionDays, endedRowRetentionDays, trashRetentionDays } from "@relicario/shared/api";
import { and, eq, isNotNull, isNull, lte, sql, type SQL } from "drizzle-orm";

import { lockedTransaction } from "../accounts/lock-account.ts";
import { adjustStorageUsed } from "../accounts/storage-used.ts";
import type { Db, Tx } from "../db/database.ts";
import { answers, requests } from "../db/schema.ts";
import { deleteDueRows, forEachDue, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";
import { deleteAnswer, dropAnswerContent, updateRequest, type RequestRow } from "./queries.ts";

const subtractDays = (now: Date, days: number): Date => new Date(now.getTime() - days * 86_400_000);

/** Deletes unfinished answers a day after their last part. */
export function deleteExpiredAnswers({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { now } = context;
  const dueCondition = lte(answers.expiresAt, now);
  return forEachDue(db, context, { accountId: answers.accountId, id: answers.id }, dueCondition, ({ accountId, id }) =>
    lockedTransaction(db, accountId, async (tx) => {
      const [stillDue] = await tx
        .select({ id: answers.id })
        .from(answers)
        .where(and(eq(answers.accountId, accountId), eq(answers.id, id), dueCondition));
      // otherwise another part arrived meanwhile
      if (stillDue !== undefined) await adjustStorageUsed(tx, accountId, -(await deleteAnswer(tx, accountId, id, now)));
    }),
  );
}

/** Drops contents and tickets that the owner collected 7 days ago. */
export function dropCollectedAnswers({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const dueCondition = and(
    isNotNull(requests.answerId),
    lte(requests.collectedAt, subtractDays(context.now, collectedAnswerRetentionDays)),
  );
  return forEachRequest(db, context, dueCondition, async (tx, request) => dropAnswerContent(tx, request, context.now));
}

/** Drops documents of requests that expired 30 days ago. */
export function dropExpiredDocuments({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const dueCondition = and(
    isNotNull(requests.document),
    lte(requests.expiresAt, subtractDays(context.now, trashRetentionDays)),
  );
  return forEachRequest(db, context, dueCondition, async (tx, { accountId, requestId, document }) => {
    await updateRequest(tx, accountId, requestId, { document: null });
    return document?.length ?? 0;
  });
}

/** Deletes requests without content that expired 90 days ago; their public ids stay. */
export function deleteEndedRequests({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { accountId, requestId, document, answerId, expiresAt } = requests;
  const cutoff = subtractDays(context.now, endedRowRetentionDays);
  const dueCondition = sql`${isNull(document)} and ${isNull(answerId)} and ${lte(expiresAt, cutoff)}`;
  return deleteDueRows(db, context, [accountId, requestId], dueCondition);
}

/** @param drop returns the freed bytes */
function forEachRequest(
  db: Db,
  context: SweepContext,
  dueCondition: SQL | undefined,
  drop: (tx: Tx, request: RequestRow) => Promise<number>,
): Promise<void> {
  const key = { accountId: requests.accountId, requestId: requests.requestId };
  return forEachDue(db, context, key, dueCondition, ({ accountId, requestId }) =>
    lockedTransaction(db, accountId, async (tx) => {
      const [request] = await tx
        .select()
        .from(requests)
        .where(and(eq(requests.accountId, accountId), eq(requests.requestId, requestId), dueCondition));
      if (request !== undefined) await adjustStorageUsed(tx, accountId, -(await drop(tx, request)));
    }),
  );
}
