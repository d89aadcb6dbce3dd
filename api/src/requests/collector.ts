import { collectedDays, trashDays } from "@relicario/shared/api";
import { and, eq, isNotNull, lte, sql } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { answers, requests } from "../db/schema.ts";
import { lockAccount } from "../keyring/queries.ts";
import { forEachItem, type Sweeping } from "../operations/sweeping.ts";
import { addStorage } from "../secrets/queries.ts";
import { deleteAnswer, dropContent, findRequest, updateRequest } from "./queries.ts";

const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * 86_400_000);

/** Answers that nobody finished, a day after their last part. */
export function dropUnfinishedAnswers(db: Db, sweeping: Sweeping): Promise<void> {
  const { now } = sweeping;
  const due = lte(answers.expiresAt, now);
  return forEachItem<{ accountId: string; id: string }>(
    sweeping,
    (last, length) =>
      db
        .select({ accountId: answers.accountId, id: answers.id })
        .from(answers)
        .where(
          and(
            due,
            last === null ? undefined : sql`(${answers.accountId}, ${answers.id}) > (${last.accountId}, ${last.id})`,
          ),
        )
        .orderBy(answers.accountId, answers.id)
        .limit(length),
    ({ accountId, id }) =>
      db.transaction(async (tx) => {
        await lockAccount(tx, accountId);
        const [still] = await tx
          .select({ id: answers.id })
          .from(answers)
          .where(and(eq(answers.accountId, accountId), eq(answers.id, id), due));
        // else a part came in between
        if (still !== undefined) await addStorage(tx, accountId, -(await deleteAnswer(tx, accountId, id, now)));
      }),
  );
}

/** Contents and tickets that their owner collected 7 days ago. */
export function dropCollected(db: Db, sweeping: Sweeping): Promise<void> {
  const due = and(isNotNull(requests.answerId), lte(requests.collectedAt, daysBefore(sweeping.now, collectedDays)));
  return forEachRequest(db, sweeping, due, async (tx, request) => dropContent(tx, request, sweeping.now));
}

/** Documents of requests that ended 30 days ago by their time: nobody reads them any more. */
export function dropOldDocuments(db: Db, sweeping: Sweeping): Promise<void> {
  const due = and(isNotNull(requests.document), lte(requests.expiresAt, daysBefore(sweeping.now, trashDays)));
  return forEachRequest(db, sweeping, due, async (tx, { accountId, requestId, document }) => {
    await updateRequest(tx, accountId, requestId, { document: null });
    return document?.length ?? 0;
  });
}

/** `drop` returns the bytes that became free. */
function forEachRequest(
  db: Db,
  sweeping: Sweeping,
  due: ReturnType<typeof and>,
  drop: (tx: Parameters<typeof dropContent>[0], request: Parameters<typeof dropContent>[1]) => Promise<number>,
): Promise<void> {
  return forEachItem<{ accountId: string; requestId: string }>(
    sweeping,
    (last, length) =>
      db
        .select({ accountId: requests.accountId, requestId: requests.requestId })
        .from(requests)
        .where(
          and(
            due,
            last === null
              ? undefined
              : sql`(${requests.accountId}, ${requests.requestId}) > (${last.accountId}, ${last.requestId})`,
          ),
        )
        .orderBy(requests.accountId, requests.requestId)
        .limit(length),
    ({ accountId, requestId }) =>
      db.transaction(async (tx) => {
        await lockAccount(tx, accountId);
        const [still] = await tx
          .select({ requestId: requests.requestId })
          .from(requests)
          .where(and(eq(requests.accountId, accountId), eq(requests.requestId, requestId), due));
        const request = still === undefined ? null : await findRequest(tx, accountId, requestId);
        if (request !== null) await addStorage(tx, accountId, -(await drop(tx, request)));
      }),
  );
}
