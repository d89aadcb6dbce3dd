import type { RequestState } from "@relicario/shared/api";
import { and, asc, count, desc, eq, gt, isNotNull, isNull, sql, type SQL } from "drizzle-orm";
import type { z } from "zod";

import type { AccountScope } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { accounts, answers, requests } from "../db/schema.ts";
import type { WrittenChange } from "../resource/resource.ts";
import { discardParts } from "../uploads/queries.ts";
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

const isAwaiting = and(isNull(requests.revokedAt), isNull(requests.providedAt));

export async function findRequest(db: Db | Tx, accountId: string, requestId: string): Promise<RequestRow | null> {
  const [row] = await db.select().from(requests).where(isRequest(accountId, requestId));
  return row ?? null;
}

/** With its owner's vendor, and since when the operator keeps that account closed. */
export async function findRequestWithOwner(
  db: Db | Tx,
  accountId: string,
  requestId: string,
): Promise<{ request: RequestRow; vendorId: string; lockedAt: Date | null } | null> {
  const [row] = await db
    .select({ request: requests, vendorId: accounts.vendorId, lockedAt: accounts.lockedAt })
    .from(requests)
    .innerJoin(accounts, eq(accounts.id, requests.accountId))
    .where(isRequest(accountId, requestId));
  return row ?? null;
}

/**
 * Newest first, with the bytes of what came; without `ended` those that wait, and those whose
 * answer is there.
 */
export function listRequests(
  db: Db,
  { accountId }: AccountScope,
  { ended: includeEnded, now }: { ended: boolean; now: Date },
): Promise<{ request: RequestRow; size: number | null }[]> {
  const isCurrent = sql`(${isAwaiting} and ${gt(requests.expiresAt, now)} or ${isNotNull(requests.answerId)})`;
  return db
    .select({ request: requests, size: answers.size })
    .from(requests)
    .leftJoin(answers, and(eq(answers.accountId, requests.accountId), eq(answers.id, requests.answerId)))
    .where(and(eq(requests.accountId, accountId), includeEnded ? undefined : isCurrent))
    .orderBy(desc(requests.createdAt), desc(requests.requestId));
}

export async function countOpenRequests(tx: Tx, accountId: string, now: Date): Promise<number> {
  const [total] = await tx
    .select({ rows: count() })
    .from(requests)
    .where(and(eq(requests.accountId, accountId), isAwaiting, gt(requests.expiresAt, now)));
  return total?.rows ?? 0;
}

export async function updateRequest(
  tx: Tx,
  accountId: string,
  requestId: string,
  values: Partial<typeof requests.$inferInsert>,
): Promise<void> {
  await tx.update(requests).set(values).where(isRequest(accountId, requestId));
}

/**
 * The first finish wins, by this one statement. @returns false when another was first, or the
 * request was revoked.
 */
export async function markProvided(
  tx: Tx,
  { accountId, requestId, answerId }: AnswerScope,
  ticket: Buffer,
  now: Date,
): Promise<boolean> {
  const updated = await tx
    .update(requests)
    .set({ providedAt: now, answerId, ticket })
    .where(and(isRequest(accountId, requestId), isAwaiting))
    .returning({ requestId: requests.requestId });
  return updated.length > 0;
}

/** Null for one that is not there, or over. The one that won is there as long as its content. */
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
        isAnswer(accountId, answerId),
        eq(answers.requestId, requestId),
        sql`(${isNull(answers.expiresAt)} or ${gt(answers.expiresAt, now)})`,
      ),
    );
  return row ?? null;
}

/** Those of a request that are not finished, the longest untouched first. */
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
  await db.update(answers).set(values).where(isAnswer(accountId, answerId));
}

/**
 * Removes an answer with its parts; their objects go after the commit. @returns the bytes that
 * became free.
 */
export async function deleteAnswer(tx: Tx, accountId: string, answerId: string, now: Date): Promise<number> {
  const deleted = await tx.delete(answers).where(isAnswer(accountId, answerId)).returning({ size: answers.size });
  await discardParts(tx, accountId, answerId, now);
  return deleted.reduce((sum, { size }) => sum + size, 0);
}

/**
 * Answers that others began, of a request that is closed now. @returns the bytes that became free.
 */
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
 * With a new account key closes all that wait for an answer: they name one that is no more.
 *
 * @returns the bytes that became free.
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
    .where(and(eq(requests.accountId, accountId), isAwaiting, gt(requests.expiresAt, now)));
  let freedBytes = 0;
  for (const request of awaitingRequests) {
    await updateRequest(tx, accountId, request.requestId, { document: null, revokedAt: now });
    freedBytes += (await deleteUnfinishedAnswers(tx, request, now)) + (request.document?.length ?? 0);
  }
  return freedBytes;
}

/**
 * The content of a request that was answered, its ticket and its document. @returns the bytes that
 * became free.
 */
export async function dropAnswerContent(
  tx: Tx,
  { accountId, requestId, answerId, ticket }: RequestRow,
  now: Date,
): Promise<number> {
  await updateRequest(tx, accountId, requestId, { answerId: null, ticket: null });
  return (answerId === null ? 0 : await deleteAnswer(tx, accountId, answerId, now)) + (ticket?.length ?? 0);
}

const isRequest = (accountId: string, requestId: string): SQL | undefined =>
  and(eq(requests.accountId, accountId), eq(requests.requestId, requestId));
const isAnswer = (accountId: string, id: string): SQL | undefined =>
  and(eq(answers.accountId, accountId), eq(answers.id, id));
