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
import { fetchSmallContent, mimeOf, displayNameOf, openClaimedTicket } from "./open-claimed-ticket.ts";
import { createShareOpeningCalls, type ShareOpeningCalls } from "../service/share-opening-calls.ts";

/*
 * [Note: Opening a link]
 * 1. Look: `link_auth` shows who sent it and what it asks for. Costs nothing.
 * 2. A picture, where one is asked for, opens the share's own helper, here: a wrong one never
 *    reaches the service.
 * 3. Password and link key are stretched; `pass_auth` claims one view, under an id that repeats
 *    safely.
 * 4. The ticket opens by the link's identity, and must be of this share, this audience, this
 *    recipient, and signed by its owner's key.
 * 5. The content is fetched by a token, and opens by what the ticket says of it.
 */

/** What the person gave, beside the link. */
export interface ShareCredentials {
  readonly password: string | null;
  readonly picture: Blob | null;
}

/**
 * Costs nothing. A person's share has no key in its link: who sent it is told to the person that it
 * is for.
 */
export async function inspectShare(
  visitor: VisitorContext,
  shareId: string,
  options: CallOptions = {},
): Promise<SharePreview> {
  requireShareId(shareId);
  const hasLink = linkPathsOf(shareId).includes((await visitor.getLink())?.path ?? "");
  if (!hasLink) return toOfferedShare(await fetchPersonOffer(visitor, shareId, options.signal));
  const { calls, key } = await resolveLink(visitor, shareId);
  return toOfferedShare(
    await calls.getOffer({ share_id: shareId, link_auth: toBase64url(deriveLinkAuth(key)) }, options.signal),
  );
}

/** @throws PortalError those of {@link Visitor.openShare}. */
export async function openShare(
  visitor: VisitorContext,
  shareId: string,
  credentials: ShareCredentials,
  options: CallOptions = {},
): Promise<
  Omit<OpenedShare, "save" | "dispose"> & { readonly content: Bytes | null; readonly sealed: SealedContentKey }
> {
  requireShareId(shareId);
  const { calls, key, audience } = await resolveLink(visitor, shareId);
  const proof = { share_id: shareId, link_auth: toBase64url(deriveLinkAuth(key)) };
  options.onProgress?.({ phase: "fetching", done: 0, total: 1 });
  const offer = await calls.getOffer(proof, options.signal);
  if (offer.audience !== audience || offer.picture !== (offer.share_helper !== null))
    throw new PortalError("decryption_failed");
  if (offer.password && (credentials.password ?? "") === "")
    throw new PortalError("validation_error", { details: { fields: ["password"] } });
  const imageRoot =
    offer.share_helper === null
      ? null
      : await recoverShareImageRoot(visitor, fromBase64url(offer.share_helper), credentials.picture, options);
  options.onProgress?.({ phase: "passphrase", done: 0, total: 1 });
  const stretched = await deriveStretchedLinkKey(key, shareId, offer.password ? credentials.password : null);
  try {
    throwIfCancelled(options.signal);
    const claim = {
      ...proof,
      pass_auth: toBase64url(derivePassAuth(stretched)),
      claim_id: visitor.claims.idFor(shareId),
    };
    const claimed = await sendWithRetry(visitor.pause, () => calls.claim(claim, options.signal));
    const identity = deriveLinkIdentity(stretched, imageRoot);
    const opened = await openClaimedTicket(claimed, [{ identity, recipient: await deriveRecipient(identity) }], {
      shareId,
      audience,
      owner: offer.from.user_id,
      ownerKey: null,
    });
    const content = await fetchSmallContent(createTransferCalls(visitor.http), opened, claimed, options);
    visitor.claims.markUsed(shareId);
    const { ticket, sealed } = opened;
    return {
      shareId,
      title: ticket.title,
      contentKind: ticket.content_kind,
      name: displayNameOf(ticket),
      mime: mimeOf(ticket),
      size: ticket.size,
      content,
      sender: { userId: ticket.owner, userName: claimed.from.user_name, trust: "says", safetyWords: [] },
      sealed,
    };
  } finally {
    wipe(stretched, imageRoot);
  }
}

/** Of its link, where it is for everybody, and where it is for signed-in people. */
function linkPathsOf(shareId: string): [string, string] {
  return [`/shared/${shareId}`, `/p-shared/${shareId}`];
}

/** Ids come from addresses: what is not one never reaches a path. */
function requireShareId(shareId: string): void {
  if (!ShareId.safeParse(shareId).success) throw new PortalError("share_unavailable");
}

/**
 * The link of this share: by its path it is for everybody or for signed-in people. @throws
 * PortalError `link_incomplete`.
 */
async function resolveLink(
  visitor: VisitorContext,
  shareId: string,
): Promise<{ readonly calls: ShareOpeningCalls; readonly key: Bytes; readonly audience: "public" | "signed_in" }> {
  const [publicPath, signedInPath] = linkPathsOf(shareId);
  const key = await requireLinkKey(visitor, publicPath, signedInPath);
  const isPublic = (await visitor.getLink())?.path === publicPath;
  return {
    calls: createShareOpeningCalls(visitor.http, { isPublic }),
    key,
    audience: isPublic ? "public" : "signed_in",
  };
}

/** @throws PortalError `link_incomplete` where the share is a link, and its key is not here. */
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

function toOfferedShare({
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
 * The root of the share's own image, by the picture that is shown. It has no passphrase.
 *
 * @returns 32 bytes; wipe them after use.
 * @throws PortalError `picture_needed`, `not_this_picture`, `picture_unreadable`,
 *   `picture_too_large`, `decryption_failed`.
 */
async function recoverShareImageRoot(
  visitor: VisitorContext,
  helperBytes: Bytes,
  picture: Blob | null,
  options: CallOptions,
): Promise<Bytes> {
  if (picture === null) throw new PortalError("picture_needed");
  const helper = parseHelper(helperBytes);
  if (helper.encrypted) throw new PortalError("decryption_failed");
  const sketch = await extractSketch(helper, null);
  const bytes = await readPictureBytes(picture);
  try {
    const result = await visitor.engine.recover(bytes, [sketch], toEngineOptions(options));
    throwIfCancelled(options.signal);
    if (result.outcome !== "recovered") throw new PortalError("not_this_picture");
    const imageSecret = new Uint8Array(result.imageSecretBytes);
    try {
      return await unwrapImageRootKey(helper, sketch, imageSecret, null);
    } finally {
      wipe(imageSecret, result.imageSecretBytes);
    }
  } finally {
    wipe(bytes);
  }
}
