import { toBase64url } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { GateReason } from "@relicario/engine";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { AccountKey } from "../seal/account-key.ts";
import { parseInnerSketches, openBookInner, completeBook, sketchToB64u, type Book } from "../seal/book.ts";
import { copyOf, wipe, type Bytes } from "../seal/bytes.ts";
import { createHelper } from "../seal/helper.ts";
import { newId, formatTimestamp } from "../seal/ids.ts";
import { savePendingSketch, loadPendingSketches } from "../device/pending-account.ts";
import { toEngineOptions } from "../openers/read-picture.ts";
import { computeHelperDigest } from "../openers/recognise-image.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";

/** A share's own image. The caller wipes its root key. */
export interface ShareImage {
  /** The book with the image's sketch. */
  readonly book: Book;
  /** base64url, 454 bytes */
  readonly helper: string;
  readonly imageRootKey: Bytes;
}

/**
 * Enrols the picture of one share, without a passphrase. Helper and image root key are for this
 * share only. The picture must never have been an opener. Its sketch stays in the book, so that the
 * picture never becomes an opener; another share with the same picture uses the same sketch.
 *
 * @throws PortalError `picture_is_opener`, `picture_resembles_another` (a cropped or edited copy of
 *   another share's picture), `picture_too_plain`, `picture_unreadable`, `picture_too_large`,
 *   `storage_full`
 */
export async function enrolShareImage(
  vault: VaultSession,
  accountKey: AccountKey,
  book: Book,
  picture: Bytes,
  options: OperationOptions,
): Promise<ShareImage> {
  const bookInner = await openBookInner(accountKey, vault.userId, book);
  const shareImageIds = new Set(book.images.filter(({ status }) => status === "share").map(({ id }) => id));
  const bookSketches = parseInnerSketches(bookInner);
  const openerSketches = bookSketches.filter(({ imageId }) => !shareImageIds.has(imageId)).map(({ sketch }) => sketch);
  const otherSketches = [
    ...bookSketches.filter(({ imageId }) => shareImageIds.has(imageId)).map(({ sketch }) => sketch),
    ...(await loadPendingSketches(vault.device)),
  ];
  const knownSketches = [...openerSketches, ...otherSketches];

  const enrolment = await vault.engine.enrol(picture, knownSketches, toEngineOptions(options));
  const imageSecrets = [enrolment.imageSecretBytes, enrolment.knownPicture?.imageSecretBytes];
  try {
    throwIfCancelled(options.signal);
    if (enrolment.knownPicture !== null && enrolment.knownPicture.index < openerSketches.length)
      throw new PortalError("picture_is_opener");
    if (enrolment.knownPicture?.imageSecretBytes === null) throw new PortalError("picture_resembles_another");
    // Such pictures need a passphrase and advice about copies; a share has neither.
    if (enrolment.gate.reasons.some((reason) => reason === GateReason.copyBright || reason === GateReason.copySmall)) {
      throw new PortalError("picture_too_plain", { details: { reasons: enrolment.gate.reasons } });
    }
    const sketch = enrolment.knownPicture === null ? enrolment.sketch : knownSketches[enrolment.knownPicture.index];
    if (sketch === undefined) throw new RangeError("expected a sketch at the matched index");
    if (enrolment.knownPicture === null) await savePendingSketch(vault.device, sketch);
    const { helper, imageRootKey } = await createHelper(
      copyOf(enrolment.knownPicture?.imageSecretBytes ?? enrolment.imageSecretBytes),
      sketch,
      null,
    );
    const id = newId(vault.now());
    const images = [
      ...book.images,
      {
        id,
        status: "share" as const,
        helper_sha256: computeHelperDigest(helper),
        added_at: formatTimestamp(vault.now()),
      },
    ];
    const sketches = [...bookInner.sketches, { image_id: id, sketch: sketchToB64u(sketch) }];
    return {
      book: await completeBook(accountKey, vault.userId, { ...book, images }, { ...bookInner, sketches }),
      helper: toBase64url(helper),
      imageRootKey,
    };
  } finally {
    wipe(...imageSecrets);
  }
}
