import { createHash, timingSafeEqual } from "node:crypto";

import {
  claimMinutes,
  type OpenShare,
  type ShareClaimed,
  type ShareLook,
  type ShareOffer,
} from "@relicario/shared/api";
import { and, eq, lte, not, sql, type SQL } from "drizzle-orm";

import { downloadHours } from "../auth/grants.ts";
import type { Db, Tx } from "../db/database.ts";
import { shareClaims } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { rateRules } from "../http/rate-limits.ts";
import { ownerOf } from "../public-ids/directory.ts";
import { findVersion } from "../secrets/queries.ts";
import type { Services } from "../services.ts";
import { servesStrangers } from "../vendors/policy.ts";
import { mayVisit, type Visitor } from "./policy.ts";
import { presentClaimed, presentLook, presentOffer } from "./present.ts";
import {
  countWrongPassword,
  endOf,
  findShare,
  findShareAndOwner,
  nobody,
  noteOpened,
  takeView,
  type KeptShare,
  type Owner,
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
interface Found {
  readonly share: KeptShare;
  readonly owner: Owner;
}

export async function lookAt(services: Services, visitor: Visitor, shareId: string): Promise<ShareLook> {
  const { share } = await requireFound(services, visitor, shareId);
  requireOpenable(share, services.now());
  return presentLook(share);
}

/**
 * @throws Problem `share_unavailable`, `validation_error` without `pass_auth`, `wrong_password`
 *   (with `tries_left`)
 */
export async function openShare(
  services: Services,
  visitor: Visitor,
  wanted: OpenShare,
): Promise<ShareOffer | ShareClaimed> {
  const { db, limiter, now } = services;
  const { claimed, ...found } = await requireFound(services, visitor, wanted.share_id, wanted);
  if (!claimed) requireOpenable(found.share, now());
  // after the proof: the id alone slows nobody
  await limiter.count(rateRules.openShare, { subject: `share ${wanted.share_id}` });
  if (wanted.claim_id === undefined) return presentOffer(found.share, found.owner);
  if (found.share.audience !== "person" && wanted.pass_auth === undefined)
    throw new Problem("validation_error", { members: { errors: [{ path: "/pass_auth", reason: "missing" }] } });
  if (!isProof(found.share, "passAuthSha256", wanted.pass_auth)) {
    const left = await countWrongPassword(db, found.share, now());
    if (left === null) throw unavailable();
    throw new Problem("wrong_password", { members: { tries_left: left } });
  }
  // Who opened a public link is nobody's business, and its download needs no session.
  const openedBy = found.share.audience === "public" ? null : (visitor.actor?.accountId ?? null);
  return claim(services, found, { claimId: wanted.claim_id, openedBy });
}

async function claim(
  services: Services,
  { share: { accountId, shareId }, owner }: Found,
  { claimId, openedBy }: { claimId: string; openedBy: string | null },
): Promise<ShareClaimed> {
  const { db, grants, limiter, mailer, now } = services;
  const claimed = await db.transaction(async (tx) => {
    const at = now();
    const first = await tx
      .insert(shareClaims)
      .values({ accountId, shareId, claimId, openedBy, claimedAt: at, usedAt: at })
      .onConflictDoUpdate({
        target: [shareClaims.accountId, shareClaims.shareId, shareClaims.claimId],
        set: { openedBy, claimedAt: at, usedAt: at },
        setWhere: isOver(at),
      })
      .returning({ claimId: shareClaims.claimId });
    if (first.length === 0) return repeated(tx, { accountId, shareId, claimId }, openedBy, at);
    const share = await takeView(tx, { accountId, shareId }, at);
    if (share?.ticket == null) throw unavailable();
    if (openedBy !== null && openedBy !== accountId && share.audience !== "public")
      await noteOpened(tx, share, openedBy, at);
    if (share.notify && (await limiter.passes(rateRules.mailOfShare, { subject: `share ${shareId}` }, tx)))
      await mailer.queue(tx, accountId, "share_opened", { now: at });
    return { share: { ...share, ticket: share.ticket }, claimedAt: at, usedAt: at };
  });
  const { share, claimedAt, usedAt } = claimed;
  const { wanted } = await findVersion(
    db,
    { accountId, vendorId: owner.vendorId },
    share.secretId,
    share.version,
  ).catch(hidden);
  const latest = endOfDownloads(claimedAt);
  const token = await grants.give(
    { for: "share", account: accountId, share: shareId, claim: claimId, version: share.version, opened_by: openedBy },
    latest,
  );
  const end = new Date(Math.min(usedAt.getTime() + claimMinutes * 60_000, latest.getTime(), share.expiresAt.getTime()));
  return presentClaimed(share, owner, { token, size: wanted.size, expires_at: end.toISOString() });
}

interface ClaimKey {
  readonly accountId: string;
  readonly shareId: string;
  readonly claimId: string;
}

/** The share of a view that was claimed before, for whoever claimed it. */
async function repeated(
  tx: Tx,
  key: ClaimKey,
  openedBy: string | null,
  now: Date,
): Promise<{ share: KeptShare; claimedAt: Date; usedAt: Date }> {
  const share = await findShare(tx, key.accountId, key.shareId);
  const before = await findClaim(tx, key, now);
  if (share?.ticket == null || share.expiresAt <= now || before?.openedBy !== openedBy) throw unavailable();
  return { share: { ...share, ticket: share.ticket }, claimedAt: before.claimedAt, usedAt: before.usedAt };
}

/**
 * Whether this view was claimed, or downloaded from, within the last ten minutes, and claimed
 * within the last day. It counts as downloaded from now.
 */
export async function prolongClaim(db: Db, key: ClaimKey, now: Date): Promise<boolean> {
  const claim = await findClaim(db, key, now);
  if (claim === null) return false;
  if (now.getTime() - claim.usedAt.getTime() > prolongedEverySeconds * 1_000)
    await db.update(shareClaims).set({ usedAt: now }).where(isClaim(key));
  return true;
}

/** A large content is fetched in many pieces, and not each of them is written down. */
const prolongedEverySeconds = 60;

/** Null when its time is over. */
async function findClaim(db: Db | Tx, key: ClaimKey, now: Date): Promise<typeof shareClaims.$inferSelect | null> {
  const [row] = await db
    .select()
    .from(shareClaims)
    .where(and(isClaim(key), not(isOver(now))));
  return row ?? null;
}

const isClaim = ({ accountId, shareId, claimId }: ClaimKey) =>
  and(eq(shareClaims.accountId, accountId), eq(shareClaims.shareId, shareId), eq(shareClaims.claimId, claimId));

/**
 * Always the same queries: an id that nobody has is looked for among the rows of nobody.
 *
 * @param opening where it is more than a look: its proof is looked at where the share is a link
 */
async function requireFound(
  { db, vendors, now }: Services,
  visitor: Visitor,
  shareId: string,
  opening?: OpenShare,
): Promise<Found & { readonly claimed: boolean }> {
  const ownerId = (await ownerOf(db, "share", shareId)) ?? nobody;
  const found = await findShareAndOwner(db, ownerId, shareId);
  const claim =
    opening?.claim_id === undefined
      ? null
      : await findClaim(db, { accountId: ownerId, shareId, claimId: opening.claim_id }, now());
  const proved = opening === undefined || isProof(found?.share ?? null, "linkAuthSha256", opening.link_auth);
  if (found === null || !proved || found.share.ticket === null || !isServed(found, visitor, vendors, now()))
    throw unavailable();
  return { share: { ...found.share, ticket: found.share.ticket }, owner: found.owner, claimed: claim !== null };
}

/** Others than its visitors, and whoever comes late, do not find it. */
function isServed(
  { share, owner }: { share: ShareRow; owner: Owner },
  visitor: Visitor,
  vendors: Services["vendors"],
  now: Date,
): boolean {
  const end = endOf(share, now);
  return (
    servesStrangers(vendors, owner) &&
    end !== "revoked" &&
    end !== "ended" &&
    share.expiresAt > now &&
    mayVisit(visitor, { ...share, vendorId: owner.vendorId })
  );
}

function requireOpenable(share: ShareRow, now: Date): void {
  if (endOf(share, now) !== null) throw unavailable();
}

const noDigest = Buffer.alloc(32);

/**
 * Takes as long for a wrong one, and where there is nothing to compare with. A person's share has
 * no digests and asks for none.
 */
function isProof(
  share: ShareRow | null,
  which: "linkAuthSha256" | "passAuthSha256",
  given: string | undefined,
): boolean {
  const digest = createHash("sha256")
    .update(Buffer.from(given ?? "", "base64url"))
    .digest();
  const kept = share?.[which] ?? null;
  const equal = timingSafeEqual(digest, kept ?? noDigest);
  return kept === null ? share?.audience === "person" : equal && given !== undefined;
}

function unavailable(): Problem {
  return new Problem("share_unavailable");
}

/** What a secret that is not there answers is not for strangers. */
export function hidden(error: unknown): never {
  throw error instanceof Problem && (error.code === "not_found" || error.code === "content_gone")
    ? unavailable()
    : error;
}

/** Claims that nothing was downloaded from for ten minutes, and those that are a day old. */
function isOver(now: Date): SQL {
  return sql`(${lte(shareClaims.usedAt, oldestClaim(now))} or ${lte(shareClaims.claimedAt, new Date(now.getTime() - downloadMs))})`;
}

/** Claims that were last used before this time or at it are over. */
export function oldestClaim(now: Date): Date {
  return new Date(now.getTime() - claimMinutes * 60_000);
}

const downloadMs = downloadHours * 3_600_000;

/**
 * The latest that a view claimed at this time may be downloaded, however often it is asked for
 * again.
 */
const endOfDownloads = (claimedAt: Date): Date => new Date(claimedAt.getTime() + downloadMs);
