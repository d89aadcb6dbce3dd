import type { PageQuery, RequestState } from "@relicario/shared/api";
import { and, asc, count, desc, eq, gt, isNotNull, isNull, sql, type SQL } from "drizzle-orm";
import type { z } from "zod";

import type { AccountScope } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { whereAfter } from "../db/page.ts";
import { accounts, answers, requests } from "../db/schema.ts";
import type { WrittenChange } from "../resource/resource.ts";
import { discardParts, getPartSize, readParts } from "../uploads/queries.ts";
import type { AnswerKey, AnswerScope } from "./policy.ts";

export type RequestRow = typeof requests.$inferSelect;
export type AnswerRow = typeof answers.$inferSelect;

export function getRequestState(
  { revokedAt, collectedAt, providedAt, expiresAt }: RequestRow,
  now: Date,
): z.infer<typeof RequestState> {
  if (revokedAt !== null) return "revoked";
  if (collectedAt !== null) return "collected";
  if (providedAt !== null) return "provided";
  return expiresAt <= now ? "expired" : "awaiting";
}

const awaitingCondition = and(isNull(requests.revokedAt), isNull(requests.providedAt));

export async function findRequest(db: Db | Tx, accountId: string, requestId: string): Promise<RequestRow | null> {
  const [row] = await db.select().from(requests).where(whereRequest(accountId, requestId));
  return row ?? null;
}

/** The request with its owner's vendor and lock. */
export async function findRequestWithOwner(
  db: Db | Tx,
  accountId: string,
  requestId: string,
): Promise<{ request: RequestRow; vendorId: string; lockedAt: Date | null } | null> {
  const [row] = await db
    .select({ request: requests, vendorId: accounts.vendorId, lockedAt: accounts.lockedAt })
    .from(requests)
    .innerJoin(accounts, eq(accounts.id, requests.accountId))
    .where(whereRequest(accountId, requestId));
  return row ?? null;
}

/**
 * Lists requests, newest first, with the size of their answers; returns up to one more than the
 * limit. Without `includeEnded`, lists only open requests and those whose answer is stored.
 */
export function listRequests(
  db: Db | Tx,
  { accountId }: AccountScope,
  {
    includeEnded,
    now,
    limit,
    cursor,
  }: Pick<PageQuery, "limit" | "cursor"> & { readonly includeEnded: boolean; readonly now: Date },
): Promise<{ request: RequestRow; size: number | null }[]> {
  const currentCondition = sql`(${awaitingCondition} and ${gt(requests.expiresAt, now)} or ${isNotNull(requests.answerId)})`;
  return db
    .select({ request: requests, size: answers.size })
    .from(requests)
    .leftJoin(answers, and(eq(answers.accountId, requests.accountId), eq(answers.id, requests.answerId)))
    .where(
      and(
        eq(requests.accountId, accountId),
        includeEnded ? undefined : currentCondition,
        whereAfter(requests.createdAt, requests.requestId, cursor),
      ),
    )
    .orderBy(desc(requests.createdAt), desc(requests.requestId))
    .limit(limit + 1);
}

export async function countOpenRequests(tx: Tx, accountId: string, now: Date): Promise<number> {
  const [total] = await tx
    .select({ rows: count() })
    .from(requests)
    .where(and(eq(requests.accountId, accountId), awaitingCondition, gt(requests.expiresAt, now)));
  return total?.rows ?? 0;
}

export async function updateRequest(
  tx: Tx,
  accountId: string,
  requestId: string,
  values: Partial<typeof requests.$inferInsert>,
): Promise<void> {
  await tx.update(requests).set(values).where(whereRequest(accountId, requestId));
}

/**
 * Makes this the request's answer, in one statement: the first finish wins. @returns false when
 * another answer was first or the request was revoked
 */
export async function markProvided(
  tx: Tx,
  { accountId, requestId, answerId }: AnswerScope,
  ticket: Buffer,
  now: Date,
): Promise<boolean> {
  const updatedRows = await tx
    .update(requests)
    .set({ providedAt: now, answerId, ticket })
    .where(and(whereRequest(accountId, requestId), awaitingCondition))
    .returning({ requestId: requests.requestId });
  return updatedRows.length > 0;
}

/** Null for a missing or expired answer. The finished one does not expire. */
export async function findAnswer(
  db: Db | Tx,
  { accountId, requestId, answerId }: AnswerKey,
  now: Date,
): Promise<AnswerRow | null> {
  const [row] = await db
    .select()
    .from(answers)
    .where(
      and(
        whereAnswer(accountId, answerId),
        eq(answers.requestId, requestId),
        sql`(${isNull(answers.expiresAt)} or ${gt(answers.expiresAt, now)})`,
      ),
    );
  return row ?? null;
}

/** Unfinished answers of a request, those idle the longest first. */
export function readUnfinishedAnswers(tx: Tx, accountId: string, requestId: string): Promise<AnswerRow[]> {
  return tx
    .select()
    .from(answers)
    .where(and(eq(answers.accountId, accountId), eq(answers.requestId, requestId), isNotNull(answers.expiresAt)))
    .orderBy(asc(answers.expiresAt), asc(answers.id));
}

export async function updateAnswer(
  db: Db | Tx,
  accountId: string,
  answerId: string,
  values: Partial<typeof answers.$inferInsert>,
): Promise<void> {
  await db.update(answers).set(values).where(whereAnswer(accountId, answerId));
}

/**
 * Deletes an answer with its parts; objects are deleted after the commit. @returns the freed bytes
 */
export async function deleteAnswer(tx: Tx, accountId: string, answerId: string, now: Date): Promise<number> {
  const parts = await readParts(tx, { accountId }, answerId);
  const [answer] = await tx
    .delete(answers)
    .where(whereAnswer(accountId, answerId))
    .returning({ size: answers.size, partSize: answers.partSize });
  await discardParts(tx, accountId, answerId, now);
  return answer === undefined ? 0 : parts.reduce((sum, { part }) => sum + getPartSize(answer, part), 0);
}

/** Deletes the unfinished answers of a closed request. @returns the freed bytes */
export async function deleteUnfinishedAnswers(
  tx: Tx,
  { accountId, requestId }: RequestRow,
  now: Date,
): Promise<number> {
  let freedBytes = 0;
  for (const { id } of await readUnfinishedAnswers(tx, accountId, requestId))
    freedBytes += await deleteAnswer(tx, accountId, id, now);
  return freedBytes;
}

/**
 * Revokes open requests when the account key changes: they name the former key.
 *
 * @returns the freed bytes.
 */
export async function revokeAtRotation(
  _services: unknown,
  tx: Tx,
  { accountId, previousKeyEpoch, change, now }: WrittenChange,
): Promise<number> {
  if (previousKeyEpoch === null || change.key_epoch === previousKeyEpoch) return 0;
  const awaitingRequests = await tx
    .select()
    .from(requests)
    .where(and(eq(requests.accountId, accountId), awaitingCondition, gt(requests.expiresAt, now)));
  let freedBytes = 0;
  for (const request of awaitingRequests) {
    await updateRequest(tx, accountId, request.requestId, { document: null, revokedAt: now });
    freedBytes += (await deleteUnfinishedAnswers(tx, request, now)) + (request.document?.length ?? 0);
  }
  return freedBytes;
}

/** Drops a request's answer and ticket. @returns the freed bytes */
export async function dropAnswerContent(
  tx: Tx,
  { accountId, requestId, answerId, ticket }: RequestRow,
  now: Date,
): Promise<number> {
  await updateRequest(tx, accountId, requestId, { answerId: null, ticket: null });
  return (answerId === null ? 0 : await deleteAnswer(tx, accountId, answerId, now)) + (ticket?.length ?? 0);
}

const whereRequest = (accountId: string, requestId: string): SQL | undefined =>
  and(eq(requests.accountId, accountId), eq(requests.requestId, requestId));
const whereAnswer = (accountId: string, id: string): SQL | undefined =>
  and(eq(answers.accountId, accountId), eq(answers.id, id));
