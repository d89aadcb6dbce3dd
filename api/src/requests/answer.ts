import { createHash, timingSafeEqual } from "node:crypto";

import {
  canonicalBytes,
  maxOpenAnswers,
  type AnswerFinished,
  type AnswerStarted,
  type FinishAnswer,
  type RequestOffer,
  type StartAnswer,
} from "@relicario/shared/api";
import { v7 as uuidv7 } from "uuid";
import type { z } from "zod";

import type { Db, Tx } from "../db/database.ts";
import { answers } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { rateRules } from "../http/rate-limits.ts";
import { changeAccount } from "../keyring/queries.ts";
import { ownerOf } from "../public-ids/directory.ts";
import { addStorage } from "../secrets/queries.ts";
import { countStored, reserveBytes } from "../secrets/quota.ts";
import type { Services } from "../services.ts";
import { nobody } from "../shares/queries.ts";
import { contentDigest, refuseMissing, refuseOther } from "../uploads/finish.ts";
import { partCount, readParts } from "../uploads/queries.ts";
import type { PartsTarget } from "../uploads/receive-part.ts";
import { expiryAfter } from "../uploads/start.ts";
import { servesStrangers } from "../vendors/policy.ts";
import { answerPolicy, type OwnAnswer } from "./policy.ts";
import {
  deleteAnswer,
  dropUnfinished,
  findAnswer,
  findRequest,
  findRequestAndOwner,
  provide,
  readUnfinished,
  stateOf,
  updateAnswer,
  type AnswerRow,
  type RequestRow,
} from "./queries.ts";

/*
 * [Note: Answering a request] Whoever has the link, without an account.
 *
 * 1. A look reads. What is not there, is revoked, or does not fit `link_auth` is one answer after
 *    the same queries.
 * 2. The start gives a token for one answer, and the answer takes its place in the owner's quota.
 *    Two may be unfinished; a third ends the one that was touched longest ago. Parts come as those
 *    of an upload do ([Note: Parts]).
 * 3. The finish reads all parts through, then one statement makes it the request's answer if none
 *    is yet. The others go with it.
 *
 * An answer that was begun before the request expired may be finished after it. While the owner's
 * account or vendor is closed, all of these calls are refused; what came before stays, and goes on
 * afterwards.
 */

/** @throws Problem `request_unavailable` */
export async function lookAtRequest(
  services: Services,
  wanted: { request_id: string; link_auth: string },
): Promise<RequestOffer> {
  const { request, document, partSize } = await requireLinked(services, wanted);
  return {
    document,
    state: stateOf(request, services.now()),
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
  wish: z.infer<typeof StartAnswer>,
): Promise<z.infer<typeof AnswerStarted>> {
  const { limiter, grants, vendors, now } = services;
  const { request, partSize, vendorId } = await requireLinked(services, wish);
  // after the proof: the id alone closes nothing
  await limiter.count(rateRules.answersOfRequest, { subject: `request ${wish.request_id}` });
  const { accountId, requestId, maxSize } = request;
  const vendor = vendors.require(vendorId);
  if (wish.size > maxSize) throw new Problem("payload_too_large", { members: { limit: maxSize } });
  const answerId = uuidv7();
  const expiresAt = expiryAfter(now());
  const answer = {
    accountId,
    id: answerId,
    requestId,
    size: wish.size,
    partSize: wish.part_size ?? partSize,
    expiresAt,
  };
  await changeAccount(services, accountId, async (tx, account) => {
    const present = await findRequest(tx, accountId, requestId);
    const state = present === null ? "revoked" : stateOf(present, now());
    if (state === "provided" || state === "collected") throw new Problem("request_closed");
    if (state !== "awaiting") throw new Problem("request_unavailable");
    const before = await readUnfinished(tx, accountId, requestId);
    for (const { id } of before.slice(0, Math.max(0, before.length + 1 - maxOpenAnswers)))
      await addStorage(tx, accountId, -(await deleteAnswer(tx, accountId, id, now())));
    await tx.insert(answers).values(answer);
    await countStored(tx, vendor, account, wish.size);
  });
  // The row says when it is over: each part gives it time again.
  const token = await grants.give(
    { for: "answer", account: accountId, request: requestId, answer: answerId },
    new Date(now().getTime() + tokenDays * 86_400_000),
  );
  return {
    answer_id: answerId,
    token,
    part_size: answer.partSize,
    parts: partCount(answer),
    expires_at: expiresAt.toISOString(),
  };
}

/** Longer than an answer can be under way by far. */
const tokenDays = 90;

/** @throws Problem `not_found` for a token that is not for this answer */
export async function answerOf({ grants }: Services, answerId: string, token: string | undefined): Promise<OwnAnswer> {
  const own = answerPolicy(await grants.read(token ?? "", "answer"), answerId);
  if (own === null) throw new Problem("not_found");
  return own;
}

/**
 * An answer that takes parts. @throws Problem `not_found`, `request_unavailable`, `request_closed`
 */
export async function openAnswerForParts(services: Services, own: OwnAnswer): Promise<PartsTarget> {
  const { db, now } = services;
  const { accountId, answerId } = own;
  const { size, partSize } = await requireUnfinished(services, db, own);
  return {
    ...{ accountId, id: answerId, size, partSize },
    objectPrefix: `${accountId}/${answerId}/1-`,
    requireOpen: async (executor) => {
      await requireUnfinished(services, executor, own);
    },
    prolong: (tx) => updateAnswer(tx, accountId, answerId, { expiresAt: expiryAfter(now()) }),
  };
}

/**
 * @throws Problem `not_found`, `request_unavailable`, `request_closed` when another was first or
 *   the request was revoked, `upload_incomplete` (with `missing`), `digest_mismatch`
 */
export async function finishAnswer(
  services: Services,
  own: OwnAnswer,
  finish: z.infer<typeof FinishAnswer>,
): Promise<z.infer<typeof AnswerFinished>> {
  const { db, mailer, vendors, now } = services;
  const { accountId, requestId, answerId } = own;
  const finishSha256 = createHash("sha256")
    .update(canonicalBytes({ answer_id: answerId, ...finish }))
    .digest();
  const answer = await requireAnswer(services, db, own);
  const before = await finished(db, own, answer, finishSha256);
  if (before !== null) return before;
  const parts = await readParts(db, own, answerId);
  refuseMissing(answer, parts);
  const contentSha256 = await services.digests(accountId, async () => {
    const { contentSha256: known } = await requireAnswer(services, db, own);
    return (
      known ??
      contentDigest(services, answer, parts, (found) => updateAnswer(db, accountId, answerId, { contentSha256: found }))
    );
  });
  refuseOther(contentSha256, finish.content_sha256);

  const ticket = Buffer.from(finish.ticket, "base64url");
  return changeAccount(services, accountId, async (tx, account) => {
    const first = await finished(tx, own, await requireAnswer(services, tx, own), finishSha256);
    if (first !== null) return first;
    const at = now();
    if (!(await provide(tx, own, ticket, at))) throw new Problem("request_closed");
    await updateAnswer(tx, accountId, answerId, { expiresAt: null, finishSha256 });
    const request = await findRequest(tx, accountId, requestId);
    if (request === null) throw new Error("a request that was answered is not there");
    await countStored(
      tx,
      vendors.require(account.vendorId),
      account,
      ticket.length - (await dropUnfinished(tx, request, at)),
      reserveBytes,
      { noted: { kind: "request_answered" }, now: at },
    ); // its content took its place when it started
    if (request.notify) await mailer.queue(tx, accountId, "request_provided", { now: at });
    return { provided_at: at.toISOString() };
  });
}

/**
 * What was answered to the same finish, byte for byte; null while none was. @throws Problem
 * `request_closed` for another one of the same answer
 */
async function finished(
  db: Db | Tx,
  own: OwnAnswer,
  answer: AnswerRow,
  finishSha256: Buffer,
): Promise<z.infer<typeof AnswerFinished> | null> {
  if (answer.finishSha256 === null) return null;
  const request = await findRequest(db, own.accountId, own.requestId);
  if (!answer.finishSha256.equals(finishSha256) || request?.providedAt == null) throw new Problem("request_closed");
  return { provided_at: request.providedAt.toISOString() };
}

/**
 * @throws Problem `request_unavailable` while its request is closed to strangers, `request_closed`
 *   when that takes none any more, `not_found` when it is over itself
 */
export async function requireAnswer({ vendors, now }: Services, db: Db | Tx, own: OwnAnswer): Promise<AnswerRow> {
  const answer = await findAnswer(db, own, now());
  // after the answer: what removes that closes the request with it
  const found = await findRequestAndOwner(db, own.accountId, own.requestId);
  if (found === null || !servesStrangers(vendors, found)) throw new Problem("request_unavailable");
  if (answer !== null) return answer;
  throw new Problem(
    found.request.providedAt === null && found.request.revokedAt === null ? "not_found" : "request_closed",
  );
}

async function requireUnfinished(services: Services, db: Db | Tx, own: OwnAnswer): Promise<AnswerRow> {
  const answer = await requireAnswer(services, db, own);
  if (answer.finishSha256 !== null) throw new Problem("request_closed");
  return answer;
}

/**
 * Always the same queries, and a comparison that takes as long: an id that nobody has is looked for
 * among the rows of nobody.
 */
async function requireLinked(
  { db, vendors }: Services,
  wanted: { request_id: string; link_auth: string },
): Promise<{ request: RequestRow; document: string; partSize: number; vendorId: string }> {
  const ownerId = (await ownerOf(db, "request", wanted.request_id)) ?? nobody;
  const found = await findRequestAndOwner(db, ownerId, wanted.request_id);
  const digest = createHash("sha256").update(Buffer.from(wanted.link_auth, "base64url")).digest();
  const isRight = timingSafeEqual(digest, found?.request.linkAuthSha256 ?? Buffer.alloc(32));
  if (found === null || !isRight || !servesStrangers(vendors, found) || found.request.document === null)
    throw new Problem("request_unavailable");
  return {
    request: found.request,
    document: found.request.document,
    partSize: vendors.require(found.vendorId).partBytes,
    vendorId: found.vendorId,
  };
}
