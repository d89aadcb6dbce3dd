import { createHash, timingSafeEqual } from "node:crypto";

import {
  claimLifetimeMinutes,
  type OpenShareBody,
  type ShareClaim,
  type ShareInfo,
  type ShareOffer,
} from "@relicario/shared/api";
import { and, eq, lte, not, sql, type SQL } from "drizzle-orm";

import { grantAccount } from "../auth/actor.ts";
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
 * 1. A look and an offer read. Whatever makes a share unavailable, a wrong `link_auth` too, is one
 *    answer after the same queries, counted by address alone; what is openable is counted by share,
 *    too.
 * 2. A claim: `claim_id` is written down; if it stands there already and its time is not over, it
 *    is the same view.
 * 3. In the same transaction one view is taken, by one statement on the share's row: `views` grows
 *    where one is left. None of it holds the account.
 * 4. After that, and never before, ticket and download token go out. A transaction that was not
 *    answered is asked for again with the same `claim_id`. Each download gives the claim its time
 *    again, for a day at most from when it was made: then every token of it is over, and the same
 *    `claim_id` is another view.
 *
 * A wrong `pass_auth` counts by one statement on the same row, which has no effect once ten were
 * counted: guesses that come at the same moment stand in line there, and the answers of those
 * behind the tenth do not say whether they were right.
 */

/**
 * A share that its visitor may find, neither expired nor ended by its owner. Whether a view is left
 * is another question.
 */
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
  // after the proof: the id alone slows nobody
  await limiter.consume(rateLimitRules.openShare, { subject: `share ${body.share_id}` });
  if (body.claim_id === undefined) return presentOffer(visibleShare.share, visibleShare.owner);
  if (visibleShare.share.audience !== "person" && body.pass_auth === undefined)
    throw new Problem("validation_error", { members: { errors: [{ path: "/pass_auth", reason: "missing" }] } });
  if (!isValidProof(visibleShare.share, "passAuthSha256", body.pass_auth)) {
    const triesLeft = await countWrongPassword(db, visibleShare.share, now());
    if (triesLeft === null) throw createUnavailableProblem();
    throw new Problem("wrong_password", { members: { tries_left: triesLeft } });
  }
  // Who opened a public link is nobody's business, and its download needs no session.
  const openedBy = visibleShare.share.audience === "public" ? null : (visitor.actor?.accountId ?? null);
  return claimView(services, visibleShare, { claimId: body.claim_id, openedBy });
}

async function claimView(
  services: Services,
  { share: { accountId, shareId }, owner }: VisibleShare,
  { claimId, openedBy }: { claimId: string; openedBy: string | null },
): Promise<ShareClaim> {
  const { db, grants, limiter, mailer, now } = services;
  const claimedView = await db.transaction(async (tx) => {
    const at = now();
    const inserted = await tx
      .insert(shareClaims)
      .values({ accountId, shareId, claimId, openedBy, claimedAt: at, usedAt: at })
      .onConflictDoUpdate({
        target: [shareClaims.accountId, shareClaims.shareId, shareClaims.claimId],
        set: { openedBy, claimedAt: at, usedAt: at },
        setWhere: isClaimExpired(at),
      })
      .returning({ claimId: shareClaims.claimId });
    if (inserted.length === 0) return readRepeatedClaim(tx, { accountId, shareId, claimId }, openedBy, at);
    const share = await consumeView(tx, { accountId, shareId }, at);
    if (share?.ticket == null) throw createUnavailableProblem();
    if (openedBy !== null && openedBy !== accountId && share.audience !== "public")
      await recordOpening(tx, share, openedBy, at);
    if (share.notify && (await limiter.tryConsume(rateLimitRules.shareMail, { subject: `share ${shareId}` }, tx)))
      await mailer.queue(tx, accountId, "share_opened", { now: at });
    return { share: { ...share, ticket: share.ticket }, claimedAt: at, usedAt: at };
  });
  const { share, claimedAt, usedAt } = claimedView;
  const { storedVersion } = await findVersion(
    db,
    grantAccount(accountId, owner.vendorId),
    share.secretId,
    share.version,
  ).catch(throwUnavailableIfMissing);
  const downloadDeadline = getDownloadDeadline(claimedAt);
  const token = await grants.issue(
    { for: "share", account: accountId, share: shareId, claim: claimId, version: share.version, opened_by: openedBy },
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

/** The share of a view that was claimed before, for whoever claimed it. */
async function readRepeatedClaim(
  tx: Tx,
  key: ClaimKey,
  openedBy: string | null,
  now: Date,
): Promise<{ share: ShareWithTicket; claimedAt: Date; usedAt: Date }> {
  const share = await findShare(tx, key.accountId, key.shareId);
  const existingClaim = await findClaim(tx, key, now);
  if (share?.ticket == null || share.expiresAt <= now || existingClaim?.openedBy !== openedBy)
    throw createUnavailableProblem();
  return {
    share: { ...share, ticket: share.ticket },
    claimedAt: existingClaim.claimedAt,
    usedAt: existingClaim.usedAt,
  };
}

/**
 * Whether this view was claimed, or downloaded from, within the last ten minutes, and claimed
 * within the last day. It counts as downloaded from now.
 */
export async function extendClaim(db: Db, key: ClaimKey, now: Date): Promise<boolean> {
  const claim = await findClaim(db, key, now);
  if (claim === null) return false;
  if (now.getTime() - claim.usedAt.getTime() > extendIntervalSeconds * 1_000)
    await db.update(shareClaims).set({ usedAt: now }).where(isClaim(key));
  return true;
}

/** A large content is fetched in many pieces, and not each of them is written down. */
const extendIntervalSeconds = 60;

/** Null when its time is over. */
async function findClaim(db: Db | Tx, key: ClaimKey, now: Date): Promise<typeof shareClaims.$inferSelect | null> {
  const [row] = await db
    .select()
    .from(shareClaims)
    .where(and(isClaim(key), not(isClaimExpired(now))));
  return row ?? null;
}

const isClaim = ({ accountId, shareId, claimId }: ClaimKey) =>
  and(eq(shareClaims.accountId, accountId), eq(shareClaims.shareId, shareId), eq(shareClaims.claimId, claimId));

/**
 * Always the same queries: an id that nobody has is looked for among the rows of nobody.
 *
 * @param body where it is more than a look: its proof is looked at where the share is a link
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

/** Others than its visitors, and whoever comes late, do not find it. */
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
 * Takes as long for a wrong one, and where there is nothing to compare with. A person's share has
 * no digests and asks for none.
 */
function isValidProof(
  share: ShareRow | null,
  digestField: "linkAuthSha256" | "passAuthSha256",
  proof: string | undefined,
): boolean {
  const digest = createHash("sha256")
    .update(Buffer.from(proof ?? "", "base64url"))
    .digest();
  const expected = share?.[digestField] ?? null;
  const matchesDigest = timingSafeEqual(digest, expected ?? placeholderDigest);
  return expected === null ? share?.audience === "person" : matchesDigest && proof !== undefined;
}

function createUnavailableProblem(): Problem {
  return new Problem("share_unavailable");
}

/** What a secret that is not there answers is not for strangers. */
export function throwUnavailableIfMissing(error: unknown): never {
  throw error instanceof Problem && (error.code === "not_found" || error.code === "content_gone")
    ? createUnavailableProblem()
    : error;
}

/** Claims that nothing was downloaded from for ten minutes, and those that are a day old. */
function isClaimExpired(now: Date): SQL {
  return sql`(${lte(shareClaims.usedAt, getClaimCutoff(now))} or ${lte(shareClaims.claimedAt, new Date(now.getTime() - maxDownloadMilliseconds))})`;
}

/** Claims that were last used before this time or at it are over. */
export function getClaimCutoff(now: Date): Date {
  return new Date(now.getTime() - claimLifetimeMinutes * 60_000);
}

const maxDownloadMilliseconds = maxDownloadHours * 3_600_000;

/**
 * The latest that a view claimed at this time may be downloaded, however often it is asked for
 * again.
 */
const getDownloadDeadline = (claimedAt: Date): Date => new Date(claimedAt.getTime() + maxDownloadMilliseconds);
