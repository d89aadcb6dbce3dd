import { toBase64url } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { GateReason } from "@relicario/engine";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { AccountKey } from "../seal/account-key.ts";
import { parseInnerSketches, openBookInner, sealBookInner, sketchToB64u, type Book } from "../seal/book.ts";
import { copyOf, wipe, type Bytes } from "../seal/bytes.ts";
import { createHelper } from "../seal/helper.ts";
import { newId, formatTimestamp } from "../seal/ids.ts";
import { savePendingSketch, loadPendingSketches } from "../device/pending-account.ts";
import { toEngineOptions } from "../openers/read-picture.ts";
import { helperDigest } from "../openers/recognise-image.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";

/** A share's own picture, enrolled without passphrase. Wipe its root. */
export interface ShareImage {
  /** The book with its sketch. */
  readonly book: Book;
  /** base64url, 454 bytes. */
  readonly helper: string;
  readonly root: Bytes;
}

/**
 * Enrols the picture of one share: a helper and a root that live and die with it. It must be none
 * that opens the account, or once did; its sketch goes into the book and stays there, so that it
 * never becomes an opener, and another share with the same picture takes the same sketch.
 *
 * @throws PortalError `picture_is_opener`, `picture_resembles_another` (a cropped or edited copy of
 *   that of another share), `picture_too_plain`, `picture_unreadable`, `picture_too_large`,
 *   `storage_full`.
 */
export async function enrolShareImage(
  vault: VaultSession,
  accountKey: AccountKey,
  book: Book,
  picture: Bytes,
  options: OperationOptions,
): Promise<ShareImage> {
  const inner = await openBookInner(accountKey, vault.userId, book);
  const shareImageIds = new Set(book.images.filter(({ status }) => status === "share").map(({ id }) => id));
  const bookSketches = parseInnerSketches(inner);
  const openerSketches = bookSketches.filter(({ imageId }) => !shareImageIds.has(imageId)).map(({ sketch }) => sketch);
  const otherSketches = [
    ...bookSketches.filter(({ imageId }) => shareImageIds.has(imageId)).map(({ sketch }) => sketch),
    ...(await loadPendingSketches(vault.device)),
  ];
  const knownSketches = [...openerSketches, ...otherSketches];

  const result = await vault.engine.enrol(picture, knownSketches, toEngineOptions(options));
  const secrets = [result.imageSecretBytes, result.knownPicture?.imageSecretBytes];
  try {
    throwIfCancelled(options.signal);
    if (result.knownPicture !== null && result.knownPicture.index < openerSketches.length)
      throw new PortalError("picture_is_opener");
    if (result.knownPicture?.imageSecretBytes === null) throw new PortalError("picture_resembles_another");
    // These pictures take a passphrase, and words about their copies: a share has neither.
    if (result.gate.reasons.some((reason) => reason === GateReason.copyBright || reason === GateReason.copySmall)) {
      throw new PortalError("picture_too_plain", { details: { reasons: result.gate.reasons } });
    }
    const sketch = result.knownPicture === null ? result.sketch : knownSketches[result.knownPicture.index];
    if (sketch === undefined) throw new RangeError("no such sketch");
    if (result.knownPicture === null) await savePendingSketch(vault.device, sketch);
    const { helper, imageRoot: root } = await createHelper(
      copyOf(result.knownPicture?.imageSecretBytes ?? result.imageSecretBytes),
      sketch,
      null,
    );
    const id = newId(vault.now());
    const images = [
      ...book.images,
      { id, status: "share" as const, helper_sha256: helperDigest(helper), added_at: formatTimestamp(vault.now()) },
    ];
    const sealedInner = await sealBookInner(accountKey, vault.userId, {
      ...inner,
      sketches: [...inner.sketches, { image_id: id, sketch: sketchToB64u(sketch) }],
    });
    return { book: { ...book, images, inner: sealedInner }, helper: toBase64url(helper), root };
  } finally {
    wipe(...secrets);
  }
}
