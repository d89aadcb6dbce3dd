import { createHash } from "node:crypto";

import { maxLiveShares, type ChangeShare, type CreateShare, type ShareStored } from "@relicario/shared/api";
import { and, eq } from "drizzle-orm";
import type { z } from "zod";

import type { Tx } from "../db/database.ts";
import { accounts, shareRecipients, shares } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { rateRules } from "../http/rate-limits.ts";
import { applyChange, callOf, repeatOf, requireDocument, type Circumstances } from "../keyring/apply-change.ts";
import { changeAccount, readKeyring } from "../keyring/queries.ts";
import { enterPublicId } from "../public-ids/directory.ts";
import { findSecret } from "../secrets/queries.ts";
import { countStored, reserveBytes } from "../secrets/quota.ts";
import type { Services } from "../services.ts";
import type { OwnShares } from "./policy.ts";
import { countLive, endOf, findShare, isThat } from "./queries.ts";

type Stored = z.infer<typeof ShareStored>;

/** A device's clock may be ahead of ours, and it counts the days. */
const clockToleranceMs = 3_600_000;

/**
 * @throws Problem `not_found`, `content_gone`, `version_conflict`, `id_taken`, `limit_reached`,
 *   `validation_error` for a time, or for a recipient who is no account of this vendor,
 *   `too_many_requests` with one person, and those of a keyring change.
 */
export function makeShare(
  services: Services,
  own: OwnShares,
  { keyring, ...rest }: CreateShare,
  when: Circumstances,
): Promise<Stored> {
  const vendor = services.vendors.require(own.vendorId);
  const call = callOf(keyring, rest);
  const { share_id: shareId, secret_db_id: secretId, version, audience } = rest;
  const answer: Stored = { share_id: shareId, state_rev: keyring.state_rev };
  requireDocument(keyring, "shares");
  const ticket = Buffer.from(rest.ticket, "base64url");
  const shareHelper = bytesOf(rest.share_helper);
  return changeAccount(services, own.accountId, async (tx, account) => {
    const stored = await readKeyring(tx, own);
    if (repeatOf(stored, call) !== null) return answer;
    const expiresAt = expiryOf(rest.expires_at, vendor.shareDays, when.now);
    await requirePresent(tx, own, secretId, version);
    if (rest.recipient !== undefined) await requireRecipient(tx, own, rest.recipient);
    await requireRoom(tx, own, when.now);
    await enterPublicId(tx, { publicId: shareId, kind: "share", accountId: own.accountId });
    const added = await applyChange(tx, account, stored, call, { secretId, version }, services, when);
    await tx.insert(shares).values({
      ...{ accountId: own.accountId, shareId, secretId, version, audience, recipientId: rest.recipient ?? null },
      ...{
        ticket,
        ticketSha256: sha256(ticket),
        linkAuthSha256: bytesOf(rest.link_auth_sha256),
        passAuthSha256: bytesOf(rest.pass_auth_sha256),
      },
      ...{
        password: rest.password,
        picture: shareHelper !== null,
        shareHelper,
        expiresAt,
        maxViews: rest.max_views ?? null,
      },
      ...{ notify: rest.notify ?? false, createdAt: when.now },
    });
    if (rest.recipient !== undefined)
      await tellRecipient(tx, services, { ownerId: own.accountId, shareId, recipientId: rest.recipient }, when.now);
    await countStored(tx, vendor, account, added + ticket.length + (shareHelper?.length ?? 0), reserveBytes, {
      noted: { kind: "shared", secretId },
      now: when.now,
    });
    return answer;
  });
}

/**
 * Another time, number of views, or version. What only its time or its views ended can be opened
 * again then.
 *
 * @throws Problem `not_found`, `conflict` when it is over for good, `version_conflict`,
 *   `validation_error`, `limit_reached` when it would be one too many that can be opened, and those
 *   of a keyring change.
 */
export function changeShare(
  services: Services,
  own: OwnShares,
  shareId: string,
  { keyring, ...rest }: ChangeShare,
  when: Circumstances,
): Promise<Stored> {
  const vendor = services.vendors.require(own.vendorId);
  const call = callOf(keyring, { share_id: shareId, ...rest });
  const answer: Stored = { share_id: shareId, state_rev: keyring.state_rev };
  requireDocument(keyring, "shares");
  return changeAccount(services, own.accountId, async (tx, account) => {
    const stored = await readKeyring(tx, own);
    if (repeatOf(stored, call) !== null) return answer;
    const share = await findShare(tx, own.accountId, shareId);
    if (share === null) throw new Problem("not_found");
    const end = endOf(share, when.now);
    if (share.ticket === null || (end !== null && end !== "expired" && end !== "used_up"))
      throw new Problem("conflict", { detail: "this share is over" });
    const expiresAt = rest.expires_at === undefined ? undefined : expiryOf(rest.expires_at, vendor.shareDays, when.now);
    if (rest.version !== undefined) await requirePresent(tx, own, share.secretId, rest.version);
    const after = {
      ...share,
      expiresAt: expiresAt ?? share.expiresAt,
      maxViews: rest.max_views === undefined ? share.maxViews : rest.max_views,
    };
    if (end !== null && endOf(after, when.now) === null) await requireRoom(tx, own, when.now);
    const ticket = bytesOf(rest.ticket);
    const added = await applyChange(
      tx,
      account,
      stored,
      call,
      { secretId: share.secretId, version: rest.version ?? share.version },
      services,
      when,
    );
    await tx
      .update(shares)
      .set({
        ...(expiresAt === undefined ? {} : { expiresAt, endMailAt: null }),
        ...(rest.max_views === undefined ? {} : { maxViews: rest.max_views }),
        ...(rest.version === undefined || ticket === null
          ? {}
          : { version: rest.version, ticket, ticketSha256: sha256(ticket) }),
      })
      .where(isThat(own.accountId, shareId));
    await countStored(
      tx,
      vendor,
      account,
      added + (ticket === null ? 0 : ticket.length - share.ticket.length),
      reserveBytes,
    );
    return answer;
  });
}

/** @throws Problem `validation_error` for a time that is over, or later than the vendor allows. */
export function expiryOf(text: string, days: number, now: Date): Date {
  const expiresAt = new Date(text);
  const latest = now.getTime() + days * 86_400_000 + clockToleranceMs;
  if (expiresAt <= now || expiresAt.getTime() > latest)
    throw new Problem("validation_error", {
      members: { errors: [{ path: "/expires_at", reason: expiresAt <= now ? "too_early" : "too_late" }] },
    });
  return expiresAt;
}

/** What is shared is the present version of a secret that is not in the trash. */
async function requirePresent(tx: Tx, own: OwnShares, secretId: string, version: number): Promise<void> {
  const secret = await findSecret(tx, own, secretId);
  if (secret === null) throw new Problem("not_found");
  if (secret.droppedAt !== null) throw new Problem("content_gone");
  if (secret.deletedAt !== null) throw new Problem("conflict", { detail: "the secret is in the trash" });
  if (secret.version !== version) throw new Problem("version_conflict", { members: { version: secret.version } });
}

/** For one more that can be opened. @throws Problem `limit_reached` */
async function requireRoom(tx: Tx, { accountId }: OwnShares, now: Date): Promise<void> {
  if ((await countLive(tx, accountId, now)) >= maxLiveShares)
    throw new Problem("limit_reached", { members: { limit: maxLiveShares } });
}

async function requireRecipient(tx: Tx, { accountId, vendorId }: OwnShares, recipientId: string): Promise<void> {
  const found = await tx
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.id, recipientId), eq(accounts.vendorId, vendorId)));
  if (found.length === 0 || recipientId === accountId)
    throw new Problem("validation_error", { members: { errors: [{ path: "/recipient", reason: "unknown" }] } });
}

/**
 * In the recipient's list at once. A mail says so, a few times a day and no more: anybody can share
 * with anybody.
 *
 * @throws Problem `too_many_requests`
 */
async function tellRecipient(
  tx: Tx,
  { mailer, limiter }: Services,
  { ownerId, shareId, recipientId }: { ownerId: string; shareId: string; recipientId: string },
  now: Date,
): Promise<void> {
  await limiter.count(rateRules.shareWithPerson, { subject: `shares ${ownerId} ${recipientId}` }, tx);
  await tx.insert(shareRecipients).values({ accountId: recipientId, shareId, ownerId, addedAt: now });
  if (await limiter.passes(rateRules.mailToRecipient, { subject: `recipient ${recipientId}` }, tx))
    await mailer.queue(tx, recipientId, "shared_with_you", { now });
}

function bytesOf(text: string | undefined): Buffer | null {
  return text === undefined ? null : Buffer.from(text, "base64url");
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
