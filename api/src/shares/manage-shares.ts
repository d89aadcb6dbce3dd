import { hash } from "node:crypto";

import {
  maxLiveShares,
  type ChangeShareBody,
  type CreateShareBody,
  type ShareWriteResponse,
  type TicketSignature,
} from "@relicario/shared/api";
import { and, eq } from "drizzle-orm";
import type { z } from "zod";

import type { AccountScope } from "../auth/actor.ts";
import type { Tx } from "../db/database.ts";
import { accounts, shareRecipients, shares } from "../db/schema.ts";
import { parseExpiry } from "../http/parse-expiry.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { withDocumentChange, type WrittenRows } from "../keyring/with-document-change.ts";
import type { RequestContext } from "../language/language.ts";
import { registerPublicId } from "../public-ids/directory.ts";
import { findSecret, findVersion } from "../secrets/queries.ts";
import type { Services } from "../services/services.ts";
import { countLiveShares, getEndReason, findShare, whereShare, type ShareRow } from "./queries.ts";

type WriteResponse = z.infer<typeof ShareWriteResponse>;

/**
 * @throws Problem `not_found`, `content_gone`, `version_conflict`, `id_taken`, `limit_reached`,
 *   `validation_error` for the expiry, or for a recipient without an account at this vendor,
 *   `too_many_requests` for one recipient, and those of a keyring change.
 */
export function createShare(
  services: Services,
  scope: AccountScope,
  { keyring, ...rest }: CreateShareBody,
  context: RequestContext,
): Promise<WriteResponse> {
  const { share_id: shareId, secret_db_id: secretId, version, audience } = rest;
  const { accountId } = scope;
  const { maxShareDays } = services.vendors.require(scope.vendorId);
  const ticket = Buffer.from(rest.ticket, "base64url");
  const shareHelper = decodeOptionalB64u(rest.share_helper);
  const call = { document: "shares", keyring, rest, ids: { share_id: shareId } } as const;
  return withDocumentChange(services, scope, call, context, async (tx) => {
    const expiresAt = parseExpiry(rest.expires_at, maxShareDays, context.now);
    const contentSha256 = await requireCurrentVersion(tx, scope, secretId, version);
    if (rest.recipient !== undefined) await requireRecipient(tx, scope, rest.recipient);
    await requireShareCapacity(tx, scope, context.now);
    await registerPublicId(tx, { publicId: shareId, kind: "share", accountId });
    await tx.insert(shares).values({
      ...{ accountId, shareId, secretId, version, audience, recipientId: rest.recipient ?? null },
      ...{
        ticket,
        ticketSha256: hash("sha256", ticket, "buffer"),
        linkAuthSha256: decodeOptionalB64u(rest.link_auth_sha256),
        passAuthSha256: decodeOptionalB64u(rest.pass_auth_sha256),
      },
      ...{ hasPassword: rest.password, hasPicture: shareHelper !== null, shareHelper, expiresAt },
      ...{ maxViews: rest.max_views ?? null, notify: rest.notify ?? false, createdAt: context.now },
    });
    if (rest.recipient !== undefined)
      await addRecipient(tx, services, { ownerId: accountId, shareId, recipientId: rest.recipient }, context.now);
    return {
      addedBytes: ticket.length + (shareHelper?.length ?? 0),
      targetSecret: { secretId, version },
      signedTicket: toSignedTicket(rest.ticket_sig, { shareId, secretId, version, ticket, contentSha256 }),
      event: { kind: "shared", secretId },
    };
  });
}

/**
 * Changes expiry, number of views, or version. A share that had expired, or had no views left, can
 * then be opened again.
 *
 * @throws Problem `not_found`, `conflict` when it ended for good, `version_conflict`,
 *   `validation_error`, `limit_reached` when too many shares could be opened, and those of a
 *   keyring change.
 */
export function changeShare(
  services: Services,
  scope: AccountScope,
  shareId: string,
  { keyring, ...rest }: ChangeShareBody,
  context: RequestContext,
): Promise<WriteResponse> {
  const { maxShareDays } = services.vendors.require(scope.vendorId);
  const ids = { share_id: shareId };
  const call = { document: "shares", keyring, rest: { ...ids, ...rest }, ids } as const;
  return withDocumentChange(services, scope, call, context, async (tx) => {
    const share = await findShare(tx, scope.accountId, shareId);
    if (share === null) throw new Problem("not_found");
    const endReason = getEndReason(share, context.now);
    if (share.ticket === null || (endReason !== null && endReason !== "expired" && endReason !== "used_up"))
      throw new Problem("conflict", { detail: "the share has ended" });
    const expiresAt =
      rest.expires_at === undefined ? undefined : parseExpiry(rest.expires_at, maxShareDays, context.now);
    const contentSha256 =
      rest.version === undefined ? null : await requireCurrentVersion(tx, scope, share.secretId, rest.version);
    const changedShare = {
      ...share,
      expiresAt: expiresAt ?? share.expiresAt,
      maxViews: rest.max_views === undefined ? share.maxViews : rest.max_views,
    };
    if (endReason !== null && getEndReason(changedShare, context.now) === null)
      await requireShareCapacity(tx, scope, context.now);
    const ticket = decodeOptionalB64u(rest.ticket);
    await tx
      .update(shares)
      .set({
        ...(expiresAt === undefined ? {} : { expiresAt, expiryMailAt: null }),
        ...(rest.max_views === undefined ? {} : { maxViews: rest.max_views }),
        ...(rest.version === undefined || ticket === null
          ? {}
          : { version: rest.version, ticket, ticketSha256: hash("sha256", ticket, "buffer") }),
      })
      .where(whereShare(scope.accountId, shareId));
    return {
      addedBytes: ticket === null ? 0 : ticket.length - share.ticket.length,
      targetSecret: { secretId: share.secretId, version: rest.version ?? share.version },
      needsAuthor: isExtended(share, changedShare),
      ...(rest.version === undefined || rest.ticket_sig === undefined || ticket === null || contentSha256 === null
        ? {}
        : {
            signedTicket: toSignedTicket(rest.ticket_sig, {
              ...{ shareId, secretId: share.secretId, version: rest.version },
              ...{ ticket, contentSha256 },
            }),
          }),
    };
  });
}

type ShareLimits = Pick<ShareRow, "expiresAt" | "maxViews">;

/** Shortening takes the signing key alone; a later end, or more views, take the author key. */
function isExtended(before: ShareLimits, after: ShareLimits): boolean {
  return after.expiresAt > before.expiresAt || (after.maxViews ?? Infinity) > (before.maxViews ?? Infinity);
}

function toSignedTicket(
  signature: TicketSignature,
  {
    shareId,
    secretId,
    version,
    ticket,
    contentSha256,
  }: { shareId: string; secretId: string; version: number; ticket: Buffer; contentSha256: Buffer },
): NonNullable<WrittenRows["signedTicket"]> {
  return {
    signature,
    ticket: {
      ...{ secret_id: secretId, version, share_id: shareId },
      ticket_sha256: hash("sha256", ticket, "base64url"),
      content_sha256: contentSha256.toString("base64url"),
    },
  };
}

/**
 * Only the current version of a secret outside the trash can be shared. @returns the digest of its
 * content
 */
async function requireCurrentVersion(tx: Tx, scope: AccountScope, secretId: string, version: number): Promise<Buffer> {
  const secret = await findSecret(tx, scope, secretId);
  if (secret === null) throw new Problem("not_found");
  if (secret.droppedAt !== null) throw new Problem("content_gone");
  if (secret.deletedAt !== null) throw new Problem("conflict", { detail: "the secret is in the trash" });
  if (secret.version !== version) throw new Problem("version_conflict", { members: { version: secret.version } });
  return (await findVersion(tx, scope, secretId, version)).storedVersion.contentSha256;
}

/** @throws Problem `limit_reached` */
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
 * Adds the share to the recipient's list. Mails are limited to a few a day: any user can share with
 * any other.
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
