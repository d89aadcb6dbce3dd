import { createHash } from "node:crypto";

import {
  maxLiveShares,
  type ChangeShareBody,
  type CreateShareBody,
  type ShareWriteResponse,
} from "@relicario/shared/api";
import { and, eq } from "drizzle-orm";
import type { z } from "zod";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { chargeStorage, quotaReserveBytes } from "../accounts/storage-used.ts";
import type { AccountScope } from "../auth/actor.ts";
import type { Tx } from "../db/database.ts";
import { accounts, shareRecipients, shares } from "../db/schema.ts";
import { parseExpiry } from "../http/parse-expiry.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { applyChange, createChangeCall, findRecordedResponse, requireDocument } from "../keyring/apply-change.ts";
import { readKeyring } from "../keyring/queries.ts";
import type { RequestContext } from "../language/language.ts";
import { registerPublicId } from "../public-ids/directory.ts";
import { findSecret } from "../secrets/queries.ts";
import type { Services } from "../services/services.ts";
import { countLiveShares, getEndReason, findShare, isShare } from "./queries.ts";

type WriteResponse = z.infer<typeof ShareWriteResponse>;

/**
 * @throws Problem `not_found`, `content_gone`, `version_conflict`, `id_taken`, `limit_reached`,
 *   `validation_error` for a time, or for a recipient who is no account of this vendor,
 *   `too_many_requests` with one person, and those of a keyring change.
 */
export function createShare(
  services: Services,
  scope: AccountScope,
  { keyring, ...rest }: CreateShareBody,
  context: RequestContext,
): Promise<WriteResponse> {
  const vendor = services.vendors.require(scope.vendorId);
  const call = createChangeCall(keyring, rest);
  const { share_id: shareId, secret_db_id: secretId, version, audience } = rest;
  const result: WriteResponse = { share_id: shareId, state_rev: keyring.state_rev };
  requireDocument(keyring, "shares");
  const ticket = Buffer.from(rest.ticket, "base64url");
  const shareHelper = decodeOptionalB64u(rest.share_helper);
  return withLockedAccount(services, scope.accountId, async (tx, account) => {
    const stored = await readKeyring(tx, scope);
    if (findRecordedResponse(stored, call) !== null) return result;
    const expiresAt = parseExpiry(rest.expires_at, vendor.shareDays, context.now);
    await requireCurrentVersion(tx, scope, secretId, version);
    if (rest.recipient !== undefined) await requireRecipient(tx, scope, rest.recipient);
    await requireShareCapacity(tx, scope, context.now);
    await registerPublicId(tx, { publicId: shareId, kind: "share", accountId: scope.accountId });
    const changeBytes = await applyChange(tx, account, stored, call, { secretId, version }, services, context);
    await tx.insert(shares).values({
      ...{ accountId: scope.accountId, shareId, secretId, version, audience, recipientId: rest.recipient ?? null },
      ...{
        ticket,
        ticketSha256: sha256(ticket),
        linkAuthSha256: decodeOptionalB64u(rest.link_auth_sha256),
        passAuthSha256: decodeOptionalB64u(rest.pass_auth_sha256),
      },
      ...{
        password: rest.password,
        picture: shareHelper !== null,
        shareHelper,
        expiresAt,
        maxViews: rest.max_views ?? null,
      },
      ...{ notify: rest.notify ?? false, createdAt: context.now },
    });
    if (rest.recipient !== undefined)
      await addRecipient(tx, services, { ownerId: scope.accountId, shareId, recipientId: rest.recipient }, context.now);
    await chargeStorage(
      tx,
      vendor,
      account,
      changeBytes + ticket.length + (shareHelper?.length ?? 0),
      quotaReserveBytes,
      {
        event: { kind: "shared", secretId },
        now: context.now,
      },
    );
    return result;
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
  scope: AccountScope,
  shareId: string,
  { keyring, ...rest }: ChangeShareBody,
  context: RequestContext,
): Promise<WriteResponse> {
  const vendor = services.vendors.require(scope.vendorId);
  const call = createChangeCall(keyring, { share_id: shareId, ...rest });
  const result: WriteResponse = { share_id: shareId, state_rev: keyring.state_rev };
  requireDocument(keyring, "shares");
  return withLockedAccount(services, scope.accountId, async (tx, account) => {
    const stored = await readKeyring(tx, scope);
    if (findRecordedResponse(stored, call) !== null) return result;
    const share = await findShare(tx, scope.accountId, shareId);
    if (share === null) throw new Problem("not_found");
    const endReason = getEndReason(share, context.now);
    if (share.ticket === null || (endReason !== null && endReason !== "expired" && endReason !== "used_up"))
      throw new Problem("conflict", { detail: "this share is over" });
    const expiresAt =
      rest.expires_at === undefined ? undefined : parseExpiry(rest.expires_at, vendor.shareDays, context.now);
    if (rest.version !== undefined) await requireCurrentVersion(tx, scope, share.secretId, rest.version);
    const changedShare = {
      ...share,
      expiresAt: expiresAt ?? share.expiresAt,
      maxViews: rest.max_views === undefined ? share.maxViews : rest.max_views,
    };
    if (endReason !== null && getEndReason(changedShare, context.now) === null)
      await requireShareCapacity(tx, scope, context.now);
    const ticket = decodeOptionalB64u(rest.ticket);
    const changeBytes = await applyChange(
      tx,
      account,
      stored,
      call,
      { secretId: share.secretId, version: rest.version ?? share.version },
      services,
      context,
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
      .where(isShare(scope.accountId, shareId));
    await chargeStorage(
      tx,
      vendor,
      account,
      changeBytes + (ticket === null ? 0 : ticket.length - share.ticket.length),
      quotaReserveBytes,
    );
    return result;
  });
}

/** @throws Problem `validation_error` for a time that is over, or later than the vendor allows. */

/** What is shared is the present version of a secret that is not in the trash. */
async function requireCurrentVersion(tx: Tx, scope: AccountScope, secretId: string, version: number): Promise<void> {
  const secret = await findSecret(tx, scope, secretId);
  if (secret === null) throw new Problem("not_found");
  if (secret.droppedAt !== null) throw new Problem("content_gone");
  if (secret.deletedAt !== null) throw new Problem("conflict", { detail: "the secret is in the trash" });
  if (secret.version !== version) throw new Problem("version_conflict", { members: { version: secret.version } });
}

/** For one more that can be opened. @throws Problem `limit_reached` */
async function requireShareCapacity(tx: Tx, { accountId }: AccountScope, now: Date): Promise<void> {
  if ((await countLiveShares(tx, accountId, now)) >= maxLiveShares)
    throw new Problem("limit_reached", { members: { limit: maxLiveShares } });
}

async function requireRecipient(tx: Tx, { accountId, vendorId }: AccountScope, recipientId: string): Promise<void> {
  const recipients = await tx
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.id, recipientId), eq(accounts.vendorId, vendorId)));
  if (recipients.length === 0 || recipientId === accountId)
    throw new Problem("validation_error", { members: { errors: [{ path: "/recipient", reason: "unknown" }] } });
}

/**
 * In the recipient's list at once. A mail says so, a few times a day and no more: anybody can share
 * with anybody.
 *
 * @throws Problem `too_many_requests`
 */
async function addRecipient(
  tx: Tx,
  { mailer, limiter }: Services,
  { ownerId, shareId, recipientId }: { ownerId: string; shareId: string; recipientId: string },
  now: Date,
): Promise<void> {
  await limiter.consume(rateLimitRules.shareWithPerson, { subject: `shares ${ownerId} ${recipientId}` }, tx);
  await tx.insert(shareRecipients).values({ accountId: recipientId, shareId, ownerId, addedAt: now });
  if (await limiter.tryConsume(rateLimitRules.mailToRecipient, { subject: `recipient ${recipientId}` }, tx))
    await mailer.queue(tx, recipientId, "shared_with_you", { now });
}

function decodeOptionalB64u(text: string | undefined): Buffer | null {
  return text === undefined ? null : Buffer.from(text, "base64url");
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
