import { fromB64u, ShareId, toB64u, type ShareOffer } from "@relicario/shared/api";
import type { CallOptions, OfferedShare, OpenedShare } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { refuseCancelled } from "../cancelled.ts";
import { recipientOf } from "../seal/age.ts";
import { wipe, type Bytes } from "../seal/bytes.ts";
import { openHelper, parseHelper, sketchOf } from "../seal/helper.ts";
import { linkAuth, linkIdentity, passAuth, stretchedKey } from "../seal/link.ts";
import { engineOptions, pictureBytes } from "../steps/picture.ts";
import { sendUntilAnswered } from "../steps/until-answered.ts";
import { transferCallsOn } from "../transfer/upload-calls.ts";
import { requireLinkKey, type VisitorContext } from "../visitor-context.ts";
import type { SealedContentKey } from "../worker/opened-contents.ts";
import { contentOf, mimeOf, nameOf, openClaimed } from "./open-claimed.ts";
import { openCallsOn, type OpenCalls } from "./open-calls.ts";

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
export interface ShareAnswers {
  readonly password: string | null;
  readonly picture: Blob | null;
}

/**
 * Costs nothing. A person's share has no key in its link: who sent it is told to the person that it
 * is for.
 */
export async function lookAtShare(
  visitor: VisitorContext,
  shareId: string,
  options: CallOptions = {},
): Promise<OfferedShare> {
  requireShareId(shareId);
  const isHere = pathsOf(shareId).includes((await visitor.link())?.path ?? "");
  if (!isHere) return present(await personsOffer(visitor, shareId, options.signal));
  const { calls, key } = await linkOf(visitor, shareId);
  return present(await calls.offer({ share_id: shareId, link_auth: toB64u(linkAuth(key)) }, options.signal));
}

/** @throws PortalError those of {@link Visitor.openShare}. */
export async function openShare(
  visitor: VisitorContext,
  shareId: string,
  answers: ShareAnswers,
  options: CallOptions = {},
): Promise<
  Omit<OpenedShare, "save" | "putAway"> & { readonly content: Bytes | null; readonly sealed: SealedContentKey }
> {
  requireShareId(shareId);
  const { calls, key, audience } = await linkOf(visitor, shareId);
  const proof = { share_id: shareId, link_auth: toB64u(linkAuth(key)) };
  options.onProgress?.({ phase: "fetching", done: 0, total: 1 });
  const offer = await calls.offer(proof, options.signal);
  if (offer.audience !== audience || offer.picture !== (offer.share_helper !== null))
    throw new PortalError("decryption_failed");
  if (offer.password && (answers.password ?? "") === "")
    throw new PortalError("validation_error", { details: { fields: ["password"] } });
  const imageRoot =
    offer.share_helper === null
      ? null
      : await shareImageRoot(visitor, fromB64u(offer.share_helper), answers.picture, options);
  options.onProgress?.({ phase: "passphrase", done: 0, total: 1 });
  const stretched = await stretchedKey(key, shareId, offer.password ? answers.password : null);
  try {
    refuseCancelled(options.signal);
    const claim = { ...proof, pass_auth: toB64u(passAuth(stretched)), claim_id: visitor.claims.idFor(shareId) };
    const claimed = await sendUntilAnswered(visitor.pause, () => calls.claim(claim, options.signal));
    const identity = linkIdentity(stretched, imageRoot);
    const opened = await openClaimed(claimed, [{ identity, recipient: await recipientOf(identity) }], {
      shareId,
      audience,
      owner: offer.from.user_id,
      ownerKey: null,
    });
    const content = await contentOf(transferCallsOn(visitor.http), opened, claimed, options);
    visitor.claims.spent(shareId);
    const { ticket, sealed } = opened;
    return {
      shareId,
      title: ticket.title,
      contentKind: ticket.content_kind,
      name: nameOf(ticket),
      mime: mimeOf(ticket),
      size: ticket.size,
      content,
      sender: { userId: ticket.owner, userName: claimed.from.user_name, standing: "says", words: [] },
      sealed,
    };
  } finally {
    wipe(stretched, imageRoot);
  }
}

/** Of its link, where it is for everybody, and where it is for signed-in people. */
function pathsOf(shareId: string): [string, string] {
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
async function linkOf(
  visitor: VisitorContext,
  shareId: string,
): Promise<{ readonly calls: OpenCalls; readonly key: Bytes; readonly audience: "public" | "signed_in" }> {
  const [publicPath, signedInPath] = pathsOf(shareId);
  const key = await requireLinkKey(visitor, publicPath, signedInPath);
  const isPublic = (await visitor.link())?.path === publicPath;
  return { calls: openCallsOn(visitor.http, { isPublic }), key, audience: isPublic ? "public" : "signed_in" };
}

/** @throws PortalError `link_incomplete` where the share is a link, and its key is not here. */
async function personsOffer(
  visitor: VisitorContext,
  shareId: string,
  signal: AbortSignal | undefined,
): Promise<ShareOffer> {
  const calls = openCallsOn(visitor.http, { isPublic: false });
  const { audience } = await calls.look(shareId, signal).catch(async (error: unknown) => {
    if (isPortalError(error, "share_unavailable"))
      return openCallsOn(visitor.http, { isPublic: true }).look(shareId, signal);
    throw isPortalError(error, "unauthorized", "login_required")
      ? new PortalError("link_incomplete", { cause: error })
      : error;
  });
  if (audience !== "person") throw new PortalError("link_incomplete");
  return calls.offer({ share_id: shareId }, signal);
}

function present({
  audience,
  from,
  password,
  picture,
  expires_at: expiresAt,
  views_left: viewsLeft,
}: ShareOffer): OfferedShare {
  return { audience, from: { userName: from.user_name }, password, picture, expiresAt, viewsLeft };
}

/**
 * The root of the share's own image, by the picture that is shown. It has no passphrase.
 *
 * @returns 32 bytes; wipe them after use.
 * @throws PortalError `picture_needed`, `not_this_picture`, `picture_unreadable`,
 *   `picture_too_large`, `decryption_failed`.
 */
async function shareImageRoot(
  visitor: VisitorContext,
  helperBytes: Bytes,
  picture: Blob | null,
  options: CallOptions,
): Promise<Bytes> {
  if (picture === null) throw new PortalError("picture_needed");
  const helper = parseHelper(helperBytes);
  if (helper.encrypted) throw new PortalError("decryption_failed");
  const sketch = await sketchOf(helper, null);
  const bytes = await pictureBytes(picture);
  try {
    const found = await visitor.engine.recover(bytes, [sketch], engineOptions(options));
    refuseCancelled(options.signal);
    if (found.outcome !== "recovered") throw new PortalError("not_this_picture");
    const imageSecret = new Uint8Array(found.imageSecretBytes);
    try {
      return await openHelper(helper, sketch, imageSecret, null);
    } finally {
      wipe(imageSecret, found.imageSecretBytes);
    }
  } finally {
    wipe(bytes);
  }
}
