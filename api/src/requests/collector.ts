import { collectedAnswerRetentionDays, trashRetentionDays } from "@relicario/shared/api";
import { and, eq, isNotNull, lte, sql } from "drizzle-orm";

import { lockAccount } from "../accounts/lock-account.ts";
import { adjustStorageUsed } from "../accounts/storage-used.ts";
import type { Db } from "../db/database.ts";
import { answers, requests } from "../db/schema.ts";
import { forEachItem, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";
import { deleteAnswer, dropAnswerContent, findRequest, updateRequest } from "./queries.ts";

const subtractDays = (now: Date, days: number): Date => new Date(now.getTime() - days * 86_400_000);

/** Answers that nobody finished, a day after their last part. */
export function deleteExpiredAnswers({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { now } = context;
  const isDue = lte(answers.expiresAt, now);
  return forEachItem<{ accountId: string; id: string }>(
    context,
    (last, pageSize) =>
      db
        .select({ accountId: answers.accountId, id: answers.id })
        .from(answers)
        .where(
          and(
            isDue,
            last === null ? undefined : sql`(${answers.accountId}, ${answers.id}) > (${last.accountId}, ${last.id})`,
          ),
        )
        .orderBy(answers.accountId, answers.id)
        .limit(pageSize),
    ({ accountId, id }) =>
      db.transaction(async (tx) => {
        await lockAccount(tx, accountId);
        const [stillDue] = await tx
          .select({ id: answers.id })
          .from(answers)
          .where(and(eq(answers.accountId, accountId), eq(answers.id, id), isDue));
        // else a part came in between
        if (stillDue !== undefined)
          await adjustStorageUsed(tx, accountId, -(await deleteAnswer(tx, accountId, id, now)));
      }),
  );
}

/** Contents and tickets that their owner collected 7 days ago. */
export function dropCollectedAnswers({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const isDue = and(
    isNotNull(requests.answerId),
    lte(requests.collectedAt, subtractDays(context.now, collectedAnswerRetentionDays)),
  );
  return forEachRequest(db, context, isDue, async (tx, request) => dropAnswerContent(tx, request, context.now));
}

/** Documents of requests that ended 30 days ago by their time: nobody reads them any more. */
export function dropExpiredDocuments({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const isDue = and(
    isNotNull(requests.document),
    lte(requests.expiresAt, subtractDays(context.now, trashRetentionDays)),
  );
  return forEachRequest(db, context, isDue, async (tx, { accountId, requestId, document }) => {
    await updateRequest(tx, accountId, requestId, { document: null });
    return document?.length ?? 0;
  });
}

/** `drop` returns the bytes that became free. */
function forEachRequest(
  db: Db,
  context: SweepContext,
  isDue: ReturnType<typeof and>,
  drop: (
    tx: Parameters<typeof dropAnswerContent>[0],
    request: Parameters<typeof dropAnswerContent>[1],
  ) => Promise<number>,
): Promise<void> {
  return forEachItem<{ accountId: string; requestId: string }>(
    context,
    (last, pageSize) =>
      db
        .select({ accountId: requests.accountId, requestId: requests.requestId })
        .from(requests)
        .where(
          and(
            isDue,
            last === null
              ? undefined
              : sql`(${requests.accountId}, ${requests.requestId}) > (${last.accountId}, ${last.requestId})`,
          ),
        )
        .orderBy(requests.accountId, requests.requestId)
        .limit(pageSize),
    ({ accountId, requestId }) =>
      db.transaction(async (tx) => {
        await lockAccount(tx, accountId);
        const [stillDue] = await tx
          .select({ requestId: requests.requestId })
          .from(requests)
          .where(and(eq(requests.accountId, accountId), eq(requests.requestId, requestId), isDue));
        const request = stillDue === undefined ? null : await findRequest(tx, accountId, requestId);
        if (request !== null) await adjustStorageUsed(tx, accountId, -(await drop(tx, request)));
      }),
  );
}
