import { hash, timingSafeEqual } from "node:crypto";

import {
  claimLifetimeMinutes,
  type OpenShareBody,
  type ShareClaim,
  type ShareInfo,
  type ShareOffer,
} from "@relicario/shared/api";
import { and, eq, lte, not, sql, type SQL } from "drizzle-orm";

import { createAccountScope } from "../auth/actor.ts";
import { maxDownloadHours } from "../auth/grants.ts";
import type { Db, Tx } from "../db/database.ts";
import { shareClaims } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { findOwnerId, unknownAccountId } from "../public-ids/directory.ts";
import { findVersion } from "../secrets/queries.ts";
import type { Services } from "../services/services.ts";
import { isServedPublicly } from "../vendors/policy.ts";
import { canVisit, type Visitor } from "./policy.ts";
import { presentClaim, presentShareInfo, presentOffer } from "./present.ts";
import {
  countWrongPassword,
  getEndReason,
  findShare,
  findShareAndOwner,
  recordOpening,
  consumeView,
  type ShareWithTicket,
  type ShareOwner,
  type ShareRow,
} from "./queries.ts";

/*
 * [Note: Opening a share]
 *
 * 1. Reading info or an offer. An unavailable share and a wrong `link_auth` give the same response
 *    after the same queries, counted by IP address; an openable share is counted by share too.
 * 2. Claiming a view stores `claim_id`. A stored one that has not expired is the same view.
 * 3. The same transaction takes a view: one statement increments `views` if one is left. It locks
 *    the share's row, not the account.
 * 4. Only then are ticket and download token returned. After a lost response the client repeats the
 *    call with the same `claim_id`. Each download extends the claim, up to a day after it was made:
 *    then all its tokens have expired, and the same `claim_id` is another view.
 *
 * A wrong `pass_auth` is counted by one statement on the same row, which does nothing after ten.
 * Concurrent guesses wait for that row, and responses after the tenth do not say whether the guess
 * was right.
 */

/** A share that the visitor may see: neither expired nor ended. It may have no views left. */
interface VisibleShare {
  readonly share: ShareWithTicket;
  readonly owner: ShareOwner;
}

export async function readShareInfo(services: Services, visitor: Visitor, shareId: string): Promise<ShareInfo> {
  const { share } = await requireVisibleShare(services, visitor, shareId);
  requireOpenable(share, services.now());
  return presentShareInfo(share);
}

/**
 * @throws Problem `share_unavailable`, `validation_error` without `pass_auth`, `wrong_password`
 *   (with `tries_left`)
 */
export async function openShare(
  services: Services,
  visitor: Visitor,
  body: OpenShareBody,
): Promise<ShareOffer | ShareClaim> {
  const { db, limiter, now } = services;
  const { isClaimed, ...visibleShare } = await requireVisibleShare(services, visitor, body.share_id, body);
  if (!isClaimed) requireOpenable(visibleShare.share, now());
  // after the proof: knowing the id alone must not use up the limit
  await limiter.consume(rateLimitRules.openShare, { subject: `share ${body.share_id}` });
  if (body.claim_id === undefined) return presentOffer(visibleShare.share, visibleShare.owner);
  if (visibleShare.share.audience !== "person" && body.pass_auth === undefined)
    throw new Problem("validation_error", { members: { errors: [{ path: "/pass_auth", reason: "missing" }] } });
  if (!isValidProof(visibleShare.share, "passAuthSha256", body.pass_auth)) {
    const triesLeft = await countWrongPassword(db, visibleShare.share, now());
    if (triesLeft === null) throw createUnavailableProblem();
    throw new Problem("wrong_password", { members: { tries_left: triesLeft } });
  }
  // The visitor of a public link stays anonymous, and its download needs no session.
  const openedByAccountId = visibleShare.share.audience === "public" ? null : (visitor.actor?.accountId ?? null);
  return claimView(services, visibleShare, { claimId: body.claim_id, openedByAccountId });
}

async function claimView(
  services: Services,
  { share: { accountId, shareId }, owner }: VisibleShare,
  { claimId, openedByAccountId }: { claimId: string; openedByAccountId: string | null },
): Promise<ShareClaim> {
  const { db, grants, limiter, mailer, now } = services;
  const claimedView = await db.transaction(async (tx) => {
    const at = now();
    const insertedRows = await tx
      .insert(shareClaims)
      .values({ accountId, shareId, claimId, openedByAccountId, claimedAt: at, usedAt: at })
      .onConflictDoUpdate({
        target: [shareClaims.accountId, shareClaims.shareId, shareClaims.claimId],
        set: { openedByAccountId, claimedAt: at, usedAt: at },
        setWhere: whereClaimExpired(at),
      })
      .returning({ claimId: shareClaims.claimId });
    if (insertedRows.length === 0) return readRepeatedClaim(tx, { accountId, shareId, claimId }, openedByAccountId, at);
    const share = await consumeView(tx, { accountId, shareId }, at);
    if (share?.ticket == null) throw createUnavailableProblem();
    if (openedByAccountId !== null && openedByAccountId !== accountId && share.audience !== "public")
      await recordOpening(tx, share, openedByAccountId, at);
    if (share.notify && (await limiter.tryConsume(rateLimitRules.shareMail, { subject: `share ${shareId}` }, tx)))
      await mailer.queue(tx, accountId, "share_opened", { now: at });
    return { share: { ...share, ticket: share.ticket }, claimedAt: at, usedAt: at };
  });
  const { share, claimedAt, usedAt } = claimedView;
  const { storedVersion } = await findVersion(
    db,
    createAccountScope(accountId, owner.vendorId),
    share.secretId,
    share.version,
  ).catch(throwUnavailableIfMissing);
  const downloadDeadline = getDownloadDeadline(claimedAt);
  const token = await grants.issue(
    {
      for: "share",
      account: accountId,
      share: shareId,
      claim: claimId,
      version: share.version,
      opened_by: openedByAccountId,
    },
    downloadDeadline,
  );
  const expiresAt = new Date(
    Math.min(usedAt.getTime() + claimLifetimeMinutes * 60_000, downloadDeadline.getTime(), share.expiresAt.getTime()),
  );
  return presentClaim(share, owner, { token, size: storedVersion.size, expires_at: expiresAt.toISOString() });
}

interface ClaimKey {
  readonly accountId: string;
  readonly shareId: string;
  readonly claimId: string;
}

/** The share of a repeated claim, for the visitor who made it. */
async function readRepeatedClaim(
  tx: Tx,
  key: ClaimKey,
  openedByAccountId: string | null,
  now: Date,
): Promise<{ share: ShareWithTicket; claimedAt: Date; usedAt: Date }> {
  const share = await findShare(tx, key.accountId, key.shareId);
  const existingClaim = await findClaim(tx, key, now);
  if (share?.ticket == null || share.expiresAt <= now || existingClaim?.openedByAccountId !== openedByAccountId)
    throw createUnavailableProblem();
  return {
    share: { ...share, ticket: share.ticket },
    claimedAt: existingClaim.claimedAt,
    usedAt: existingClaim.usedAt,
  };
}

/**
 * Whether the view was claimed within the last day, and claimed or downloaded from within the last
 * ten minutes. Extends the claim.
 */
export async function extendClaim(db: Db, key: ClaimKey, now: Date): Promise<boolean> {
  const claim = await findClaim(db, key, now);
  if (claim === null) return false;
  if (now.getTime() - claim.usedAt.getTime() > extendIntervalSeconds * 1_000)
    await db.update(shareClaims).set({ usedAt: now }).where(whereClaim(key));
  return true;
}

/** A large content is downloaded in many ranges; not every one updates the row. */
const extendIntervalSeconds = 60;

/** Null for an expired claim. */
async function findClaim(db: Db | Tx, key: ClaimKey, now: Date): Promise<typeof shareClaims.$inferSelect | null> {
  const [row] = await db
    .select()
    .from(shareClaims)
    .where(and(whereClaim(key), not(whereClaimExpired(now))));
  return row ?? null;
}

const whereClaim = ({ accountId, shareId, claimId }: ClaimKey) =>
  and(eq(shareClaims.accountId, accountId), eq(shareClaims.shareId, shareId), eq(shareClaims.claimId, claimId));

/**
 * Always runs the same queries, also for an unknown id.
 *
 * @param body of an opening; its proof is verified for links. Without it the call only reads info.
 */
async function requireVisibleShare(
  { db, vendors, now }: Services,
  visitor: Visitor,
  shareId: string,
  body?: OpenShareBody,
): Promise<VisibleShare & { readonly isClaimed: boolean }> {
  const ownerId = (await findOwnerId(db, "share", shareId)) ?? unknownAccountId;
  const shareAndOwner = await findShareAndOwner(db, ownerId, shareId);
  const claim =
    body?.claim_id === undefined
      ? null
      : await findClaim(db, { accountId: ownerId, shareId, claimId: body.claim_id }, now());
  const hasValidProof =
    body === undefined || isValidProof(shareAndOwner?.share ?? null, "linkAuthSha256", body.link_auth);
  if (
    shareAndOwner === null ||
    !hasValidProof ||
    shareAndOwner.share.ticket === null ||
    !isVisible(shareAndOwner, visitor, vendors, now())
  )
    throw createUnavailableProblem();
  return {
    share: { ...shareAndOwner.share, ticket: shareAndOwner.share.ticket },
    owner: shareAndOwner.owner,
    isClaimed: claim !== null,
  };
}

/** Hides the share from other visitors, and after its end. */
function isVisible(
  { share, owner }: { share: ShareRow; owner: ShareOwner },
  visitor: Visitor,
  vendors: Services["vendors"],
  now: Date,
): boolean {
  const endReason = getEndReason(share, now);
  return (
    isServedPublicly(vendors, owner) &&
    endReason !== "revoked" &&
    endReason !== "ended" &&
    share.expiresAt > now &&
    canVisit(visitor, { ...share, vendorId: owner.vendorId })
  );
}

function requireOpenable(share: ShareRow, now: Date): void {
  if (getEndReason(share, now) !== null) throw createUnavailableProblem();
}

const placeholderDigest = Buffer.alloc(32);

/**
 * Takes equally long for a wrong proof and without a digest. A share for a person has no digests
 * and needs no proof.
 */
function isValidProof(
  share: ShareRow | null,
  digestField: "linkAuthSha256" | "passAuthSha256",
  proof: string | undefined,
): boolean {
  const digest = hash("sha256", Buffer.from(proof ?? "", "base64url"), "buffer");
  const expected = share?.[digestField] ?? null;
  const matchesDigest = timingSafeEqual(digest, expected ?? placeholderDigest);
  return expected === null ? share?.audience === "person" : matchesDigest && proof !== undefined;
}

function createUnavailableProblem(): Problem {
  return new Problem("share_unavailable");
}

/** Strangers must not learn whether the secret or its content is gone. */
export function throwUnavailableIfMissing(error: unknown): never {
  throw error instanceof Problem && (error.code === "not_found" || error.code === "content_gone")
    ? createUnavailableProblem()
    : error;
}

/** Claims without a download for ten minutes, and those a day old. */
function whereClaimExpired(now: Date): SQL {
  return sql`(${lte(shareClaims.usedAt, getClaimCutoff(now))} or ${lte(shareClaims.claimedAt, new Date(now.getTime() - maxDownloadMilliseconds))})`;
}

/** Claims that were last used at this time or earlier have expired. */
export function getClaimCutoff(now: Date): Date {
  return new Date(now.getTime() - claimLifetimeMinutes * 60_000);
}

const maxDownloadMilliseconds = maxDownloadHours * 3_600_000;

/** The latest download of a view, however often its claim is repeated. */
const getDownloadDeadline = (claimedAt: Date): Date => new Date(claimedAt.getTime() + maxDownloadMilliseconds);
