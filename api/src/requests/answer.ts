import { hash, timingSafeEqual } from "node:crypto";

import {
  encodeCanonical,
  maxOpenAnswers,
  type FinishAnswerResponse,
  type StartAnswerResponse,
  type FinishAnswerBody,
  type RequestOffer,
  type StartAnswerBody,
} from "@relicario/shared/api";
import { v7 as uuidv7 } from "uuid";
import type { z } from "zod";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { adjustStorageUsed, chargeStorage, quotaReserveBytes } from "../accounts/storage-used.ts";
import type { Db, Tx } from "../db/database.ts";
import { answers } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { createObjectKey } from "../objects/orphaned-objects.ts";
import { findOwnerId, unknownAccountId } from "../public-ids/directory.ts";
import type { Services } from "../services/services.ts";
import { computeContentDigest, rejectMissingParts, rejectDigestMismatch } from "../uploads/finish.ts";
import { countParts, readParts } from "../uploads/queries.ts";
import type { PartsTarget } from "../uploads/receive-part.ts";
import { getUploadExpiry } from "../uploads/start.ts";
import { isServedPublicly } from "../vendors/policy.ts";
import { authorizeAnswer, type AnswerScope } from "./policy.ts";
import {
  deleteAnswer,
  deleteUnfinishedAnswers,
  findAnswer,
  findRequest,
  findRequestWithOwner,
  markProvided,
  readUnfinishedAnswers,
  getRequestState,
  updateAnswer,
  type AnswerRow,
  type RequestRow,
} from "./queries.ts";

/*
 * [Note: Answering a request] The holder of the link answers without an account.
 *
 * 1. Reading the request: a missing or revoked one and a wrong `link_auth` give the same response
 *    after the same queries.
 * 2. The start returns a token for one answer, if it fits into the owner's quota. A request has at
 *    most two unfinished answers; a third replaces the one idle the longest. Parts are received
 *    like those of uploads ([Note: Parts]). Each is charged when it has arrived, so that a link by
 *    itself reserves nothing.
 * 3. The finish reads all parts, then one statement makes it the request's answer if there is none
 *    yet, and the others are deleted.
 *
 * An answer that was started before the request expired may be finished later. While the owner's
 * account is locked, or its vendor disabled, all of these calls are refused; stored parts stay and
 * can be continued later.
 */

/** @throws Problem `request_unavailable` */
export async function readRequestOffer(
  services: Services,
  link: { request_id: string; link_auth: string },
): Promise<RequestOffer> {
  const { request, document, partSize } = await requireRequestByLink(services, link);
  return {
    document,
    state: getRequestState(request, services.now()),
    max_size: request.maxSize,
    part_size: partSize,
    expires_at: request.expiresAt.toISOString(),
  };
}

/**
 * @throws Problem `request_unavailable`, `request_closed`, `payload_too_large` (with `limit`),
 *   `quota_exceeded` of the owner
 */
export async function startAnswer(
  services: Services,
  body: z.infer<typeof StartAnswerBody>,
): Promise<z.infer<typeof StartAnswerResponse>> {
  const { limiter, grants, vendors, now } = services;
  const { request, partSize, vendorId } = await requireRequestByLink(services, body);
  // after the proof: knowing the id alone must not use up the limit
  await limiter.consume(rateLimitRules.answersPerRequest, { subject: `request ${body.request_id}` });
  const { accountId, requestId, maxSize } = request;
  const vendor = vendors.require(vendorId);
  if (body.size > maxSize) throw new Problem("payload_too_large", { members: { limit: maxSize } });
  const answerId = uuidv7();
  const expiresAt = getUploadExpiry(now());
  const answer = {
    accountId,
    id: answerId,
    requestId,
    size: body.size,
    partSize: body.part_size ?? partSize,
    expiresAt,
  };
  await withLockedAccount(services, accountId, async (tx, account) => {
    const currentRequest = await findRequest(tx, accountId, requestId);
    const state = currentRequest === null ? "revoked" : getRequestState(currentRequest, now());
    if (state === "provided" || state === "collected") throw new Problem("request_closed");
    if (state !== "awaiting") throw new Problem("request_unavailable");
    const unfinishedAnswers = await readUnfinishedAnswers(tx, accountId, requestId);
    let usedBytes = account.storageUsed;
    for (const { id } of unfinishedAnswers.slice(0, Math.max(0, unfinishedAnswers.length + 1 - maxOpenAnswers)))
      usedBytes = await adjustStorageUsed(tx, accountId, -(await deleteAnswer(tx, accountId, id, now())));
    if (usedBytes + body.size > vendor.quotaBytes) throw new Problem("quota_exceeded");
    await tx.insert(answers).values(answer);
  });
  // The row decides when the answer expires: each part extends it.
  const token = await grants.issue(
    { for: "answer", account: accountId, request: requestId, answer: answerId },
    new Date(now().getTime() + answerTokenDays * 86_400_000),
  );
  return {
    answer_id: answerId,
    token,
    part_size: answer.partSize,
    parts: countParts(answer),
    expires_at: expiresAt.toISOString(),
  };
}

/** Far longer than an answer can take. */
const answerTokenDays = 90;

/** @throws Problem `not_found` for a token of another answer */
export async function authorizeAnswerToken(
  { grants }: Services,
  answerId: string,
  token: string | undefined,
): Promise<AnswerScope> {
  const scope = authorizeAnswer(await grants.verify(token ?? "", "answer"), answerId);
  if (scope === null) throw new Problem("not_found");
  return scope;
}

/**
 * Opens an answer for receiving parts. @throws Problem `not_found`, `request_unavailable`,
 * `request_closed`
 */
export async function openAnswerForParts(services: Services, scope: AnswerScope): Promise<PartsTarget> {
  const { db, vendors, now } = services;
  const { accountId, answerId } = scope;
  const { size, partSize } = await requireUnfinishedAnswer(services, db, scope);
  return {
    ...{ accountId, id: answerId, size, partSize },
    createObjectKey: () => createObjectKey(accountId, answerId, 1),
    requireOpen: async (executor) => {
      await requireUnfinishedAnswer(services, executor, scope);
    },
    recordPart: async (tx, account, bytes) => {
      await updateAnswer(tx, accountId, answerId, { expiresAt: getUploadExpiry(now()) });
      await chargeStorage(tx, vendors.require(account.vendorId), account, bytes);
    },
  };
}

/**
 * @throws Problem `not_found`, `request_unavailable`, `request_closed` when another answer finished
 *   first or the request was revoked, `upload_incomplete` (with `missing`), `digest_mismatch`
 */
export async function finishAnswer(
  services: Services,
  scope: AnswerScope,
  body: z.infer<typeof FinishAnswerBody>,
): Promise<z.infer<typeof FinishAnswerResponse>> {
  const { db, mailer, vendors, now } = services;
  const { accountId, requestId, answerId } = scope;
  const finishSha256 = hash("sha256", encodeCanonical({ answer_id: answerId, ...body }), "buffer");
  const answer = await requireAnswer(services, db, scope);
  const previousResponse = await findFinishResponse(db, scope, answer, finishSha256);
  if (previousResponse !== null) return previousResponse;
  const parts = await readParts(db, scope, answerId);
  rejectMissingParts(answer, parts);
  const contentSha256 = await services.digestLock(accountId, async () => {
    const { contentSha256: storedSha256 } = await requireAnswer(services, db, scope);
    return (
      storedSha256 ??
      computeContentDigest(services, answer, parts, (digest) =>
        updateAnswer(db, accountId, answerId, { contentSha256: digest }),
      )
    );
  });
  rejectDigestMismatch(contentSha256, body.content_sha256);

  const ticket = Buffer.from(body.ticket, "base64url");
  return withLockedAccount(services, accountId, async (tx, account) => {
    const repeatedResponse = await findFinishResponse(
      tx,
      scope,
      await requireAnswer(services, tx, scope),
      finishSha256,
    );
    if (repeatedResponse !== null) return repeatedResponse;
    const at = now();
    if (!(await markProvided(tx, scope, ticket, at))) throw new Problem("request_closed");
    await updateAnswer(tx, accountId, answerId, { expiresAt: null, finishSha256 });
    const request = await findRequest(tx, accountId, requestId);
    if (request === null) throw new Error("the answered request does not exist");
    await chargeStorage(
      tx,
      vendors.require(account.vendorId),
      account,
      ticket.length - (await deleteUnfinishedAnswers(tx, request, at)),
      quotaReserveBytes,
      { event: { kind: "request_answered" }, now: at },
    ); // the content was charged as it came
    if (request.notify) await mailer.queue(tx, accountId, "request_provided", { now: at });
    return { provided_at: at.toISOString() };
  });
}

/**
 * The response to the same finishing call, byte for byte; null before the first. @throws Problem
 * `request_closed` for another call that finishes this answer
 */
async function findFinishResponse(
  db: Db | Tx,
  scope: AnswerScope,
  answer: AnswerRow,
  finishSha256: Buffer,
): Promise<z.infer<typeof FinishAnswerResponse> | null> {
  if (answer.finishSha256 === null) return null;
  const request = await findRequest(db, scope.accountId, scope.requestId);
  if (!answer.finishSha256.equals(finishSha256) || request?.providedAt == null) throw new Problem("request_closed");
  return { provided_at: request.providedAt.toISOString() };
}

/**
 * @throws Problem `request_unavailable` while the request is hidden from strangers,
 *   `request_closed` when it is answered or revoked, `not_found` when the answer expired
 */
export async function requireAnswer({ vendors, now }: Services, db: Db | Tx, scope: AnswerScope): Promise<AnswerRow> {
  const answer = await findAnswer(db, scope, now());
  // read after the answer: a transaction that deletes an answer also closes its request
  const requestAndOwner = await findRequestWithOwner(db, scope.accountId, scope.requestId);
  if (requestAndOwner === null || !isServedPublicly(vendors, requestAndOwner)) throw new Problem("request_unavailable");
  if (answer !== null) return answer;
  throw new Problem(
    requestAndOwner.request.providedAt === null && requestAndOwner.request.revokedAt === null
      ? "not_found"
      : "request_closed",
  );
}

async function requireUnfinishedAnswer(services: Services, db: Db | Tx, scope: AnswerScope): Promise<AnswerRow> {
  const answer = await requireAnswer(services, db, scope);
  if (answer.finishSha256 !== null) throw new Problem("request_closed");
  return answer;
}

/** Always runs the same queries and a comparison in constant time, also for an unknown id. */
async function requireRequestByLink(
  { db, vendors }: Services,
  link: { request_id: string; link_auth: string },
): Promise<{ request: RequestRow; document: string; partSize: number; vendorId: string }> {
  const ownerId = (await findOwnerId(db, "request", link.request_id)) ?? unknownAccountId;
  const requestAndOwner = await findRequestWithOwner(db, ownerId, link.request_id);
  const digest = hash("sha256", Buffer.from(link.link_auth, "base64url"), "buffer");
  const isValidLink = timingSafeEqual(digest, requestAndOwner?.request.linkAuthSha256 ?? Buffer.alloc(32));
  if (
    requestAndOwner === null ||
    !isValidLink ||
    !isServedPublicly(vendors, requestAndOwner) ||
    requestAndOwner.request.document === null
  )
    throw new Problem("request_unavailable");
  return {
    request: requestAndOwner.request,
    document: requestAndOwner.request.document,
    partSize: vendors.require(requestAndOwner.vendorId).defaultPartBytes,
    vendorId: requestAndOwner.vendorId,
  };
}
