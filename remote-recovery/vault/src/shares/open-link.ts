import { fromBase64url, ShareId, toBase64url, type ShareOffer } from "@relicario/shared/api";
import type { CallOptions, SharePreview, OpenedShare } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import { deriveRecipient } from "../seal/age.ts";
import { wipe, type Bytes } from "../seal/bytes.ts";
import { unwrapImageRootKey, parseHelper, extractSketch } from "../seal/helper.ts";
import { deriveLinkAuth, deriveLinkIdentity, derivePassAuth, deriveStretchedLinkKey } from "../seal/link-keys.ts";
import { toEngineOptions, readPictureBytes } from "../openers/read-picture.ts";
import { sendWithRetry } from "../service/send-with-retry.ts";
import { createTransferCalls } from "../transfer/upload-calls.ts";
import { requireLinkKey, type VisitorContext } from "../visitor/visitor-context.ts";
import type { SealedContentKey } from "../transfer/opened-content-store.ts";
import { fetchSmallContent, getMimeType, getDisplayName, openClaimedTicket } from "./open-claimed-ticket.ts";
import { createShareOpeningCalls, type ShareOpeningCalls } from "../service/share-opening-calls.ts";

/*
 * [Note: Opening a link]
 * 1. `link_auth` returns the offer: who sent the share and what it requires. This uses no view.
 * 2. A required picture opens the share's own helper on this device; a wrong picture never reaches
 *    the service.
 * 3. Password and link key are stretched; `pass_auth` claims one view, under an id that makes the
 *    claim repeatable.
 * 4. The ticket opens with the link's identity. It must be for this share, audience and recipient,
 *    and signed by its owner's key.
 * 5. The content is fetched with a token and opened with the ticket's key.
 */

export interface ShareCredentials {
  readonly password: string | null;
  readonly picture: Blob | null;
}

/**
 * Returns the offer without using a view. The link of a person's share has no key: only that person
 * learns from the service who sent it.
 */
export async function inspectShare(
  visitor: VisitorContext,
  shareId: string,
  options: CallOptions = {},
): Promise<SharePreview> {
  requireShareId(shareId);
  const hasLink = buildLinkPaths(shareId).includes((await visitor.getLink())?.path ?? "");
  if (!hasLink) return toSharePreview(await fetchPersonOffer(visitor, shareId, options.signal));
  const { calls, linkKey } = await resolveLink(visitor, shareId);
  return toSharePreview(
    await calls.getOffer({ share_id: shareId, link_auth: toBase64url(deriveLinkAuth(linkKey)) }, options.signal),
  );
}

/** @throws PortalError errors of {@link Visitor.openShare} */
export async function openShare(
  visitor: VisitorContext,
  shareId: string,
  credentials: ShareCredentials,
  options: CallOptions = {},
): Promise<
  Omit<OpenedShare, "handle" | "View" | "dispose"> & {
    readonly content: Bytes | null;
    readonly sealed: SealedContentKey;
  }
> {
  requireShareId(shareId);
  const { calls, linkKey, audience } = await resolveLink(visitor, shareId);
  const proof = { share_id: shareId, link_auth: toBase64url(deriveLinkAuth(linkKey)) };
  options.onProgress?.({ phase: "fetching", done: 0, total: 1 });
  const offer = await calls.getOffer(proof, options.signal);
  if (offer.audience !== audience || offer.picture !== (offer.share_helper !== null))
    throw new PortalError("decryption_failed");
  if (offer.password && (credentials.password ?? "") === "")
    throw new PortalError("validation_error", { details: { fields: ["password"] } });
  const imageRootKey =
    offer.share_helper === null
      ? null
      : await recoverShareImageRootKey(visitor, fromBase64url(offer.share_helper), credentials.picture, options);
  options.onProgress?.({ phase: "passphrase", done: 0, total: 1 });
  const stretchedKey = await deriveStretchedLinkKey(linkKey, shareId, offer.password ? credentials.password : null);
  try {
    throwIfCancelled(options.signal);
    const claim = {
      ...proof,
      pass_auth: toBase64url(derivePassAuth(stretchedKey)),
      claim_id: visitor.claims.getClaimId(shareId),
    };
    const claimedShare = await sendWithRetry(visitor.pause, () => calls.claim(claim, options.signal));
    const identity = deriveLinkIdentity(stretchedKey, imageRootKey);
    const openedTicket = await openClaimedTicket(
      claimedShare,
      [{ identity, recipient: await deriveRecipient(identity) }],
      {
        shareId,
        audience,
        owner: offer.from.user_id,
        ownerKey: null,
      },
    );
    const content = await fetchSmallContent(createTransferCalls(visitor.http), openedTicket, claimedShare, options);
    visitor.claims.markUsed(shareId);
    const { ticket, sealed } = openedTicket;
    return {
      shareId,
      title: ticket.title,
      contentKind: ticket.content_kind,
      name: getDisplayName(ticket),
      mime: getMimeType(ticket),
      size: ticket.size,
      content,
      sender: { userId: ticket.owner, userName: claimedShare.from.user_name, trust: "says", safetyWords: [] },
      sealed,
    };
  } finally {
    wipe(stretchedKey, imageRootKey);
  }
}

/** Returns the paths for everyone and for signed-in people. */
function buildLinkPaths(shareId: string): [string, string] {
  return [`/shared/${shareId}`, `/p-shared/${shareId}`];
}

/** Keeps anything but an id out of the request's path, because ids come from addresses. */
function requireShareId(shareId: string): void {
  if (!ShareId.safeParse(shareId).success) throw new PortalError("share_unavailable");
}

/**
 * Determines the audience by the link's path: everyone, or signed-in people.
 *
 * @throws PortalError `link_incomplete`
 */
async function resolveLink(
  visitor: VisitorContext,
  shareId: string,
): Promise<{ readonly calls: ShareOpeningCalls; readonly linkKey: Bytes; readonly audience: "public" | "signed_in" }> {
  const [publicPath, signedInPath] = buildLinkPaths(shareId);
  const linkKey = await requireLinkKey(visitor, publicPath, signedInPath);
  const isPublic = (await visitor.getLink())?.path === publicPath;
  return {
    calls: createShareOpeningCalls(visitor.http, { isPublic }),
    linkKey,
    audience: isPublic ? "public" : "signed_in",
  };
}

/** @throws PortalError `link_incomplete` if the share has a link whose key is missing here */
async function fetchPersonOffer(
  visitor: VisitorContext,
  shareId: string,
  signal: AbortSignal | undefined,
): Promise<ShareOffer> {
  const calls = createShareOpeningCalls(visitor.http, { isPublic: false });
  const { audience } = await calls.inspect(shareId, signal).catch(async (error: unknown) => {
    if (isPortalError(error, "share_unavailable"))
      return createShareOpeningCalls(visitor.http, { isPublic: true }).inspect(shareId, signal);
    throw isPortalError(error, "unauthorized", "login_required")
      ? new PortalError("link_incomplete", { cause: error })
      : error;
  });
  if (audience !== "person") throw new PortalError("link_incomplete");
  return calls.getOffer({ share_id: shareId }, signal);
}

function toSharePreview({
  audience,
  from,
  password,
  picture,
  expires_at: expiresAt,
  views_left: viewsLeft,
}: ShareOffer): SharePreview {
  return {
    audience,
    from: { userName: from.user_name },
    hasPassword: password,
    hasPicture: picture,
    expiresAt,
    viewsLeft,
  };
}

/**
 * @returns 32 bytes, which the caller wipes
 * @throws PortalError `picture_needed`, `not_this_picture`, `picture_unreadable`,
 *   `picture_too_large`, `decryption_failed`
 */
async function recoverShareImageRootKey(
  visitor: VisitorContext,
  helperBytes: Bytes,
  picture: Blob | null,
  options: CallOptions,
): Promise<Bytes> {
  if (picture === null) throw new PortalError("picture_needed");
  const helper = parseHelper(helperBytes);
  if (helper.requiresPassphrase) throw new PortalError("decryption_failed");
  const sketch = await extractSketch(helper, null);
  const bytes = await readPictureBytes(picture);
  try {
    const match = await visitor.engine.recover(bytes, [sketch], toEngineOptions(options));
    throwIfCancelled(options.signal);
    if (match.outcome !== "recovered") throw new PortalError("not_this_picture");
    const imageSecret = new Uint8Array(match.imageSecretBytes);
    try {
      return await unwrapImageRootKey(helper, sketch, imageSecret, null);
    } finally {
      wipe(imageSecret, match.imageSecretBytes);
    }
  } finally {
    wipe(bytes);
  }
}
