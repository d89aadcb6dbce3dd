import { toBase64url, type ImageRecord, type Slot } from "@relicario/shared/api";
import { chosenStrength, requiredStrength } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { GateVerdict, type KnownPicture, type Sketch } from "@relicario/engine";
import type { AccountKey } from "../seal/account-key.ts";
import {
  parseInnerSketches,
  completeBook,
  sketchToB64u,
  type Book,
  type BookInner,
  type BookOpener,
} from "../seal/book.ts";
import { savePendingSketch, loadPendingSketches } from "../device/pending-account.ts";
import { copyOf, wipe, type Bytes } from "../seal/bytes.ts";
import { createHelper } from "../seal/helper.ts";
import { newId, formatTimestamp } from "../seal/ids.ts";
import { deriveOpenerFromImageRootKey, sealSlot, type OpenerKeys } from "../seal/opener.ts";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { EnrolledImage } from "../keyring/build-keyring-change.ts";
import { requireStrength } from "./passphrase-strength.ts";
import { toEngineOptions } from "./read-picture.ts";
import { computeHelperDigest } from "./recognise-image.ts";

/** Either an existing opener, or a new image. The caller wipes `imageSecret`. */
type Enrolment =
  | { readonly kind: "opener"; readonly id: string; readonly sketch: Sketch }
  | ({ readonly kind: "image" } & EnrolledSketch);

export interface EnrolledSketch {
  readonly imageSecret: Bytes;
  readonly sketch: Sketch;
  readonly passphrase: string | null;
}

/**
 * Enrols a picture, or finds its existing opener. Compares the picture with every known sketch, so
 * that none is sketched twice.
 *
 * @throws PortalError `picture_too_plain`, `picture_needs_passphrase`, `passphrase_too_weak`,
 *   `picture_resembles_another`, `picture_unreadable`, `storage_full`
 */
export async function enrol(
  vault: VaultSession,
  pictureBytes: Bytes,
  passphrase: string | null,
  knownSketches: readonly KnownSketch[],
  options: OperationOptions,
): Promise<Enrolment> {
  const result = await vault.engine.enrol(
    pictureBytes,
    knownSketches.map(({ sketch }) => sketch),
    toEngineOptions(options),
  );
  const imageSecrets = [result.imageSecretBytes, result.knownPicture?.imageSecretBytes];
  try {
    throwIfCancelled(options.signal);
    const match = result.knownPicture === null ? null : requireSamePicture(result.knownPicture, knownSketches);
    // recipients of the share have this picture, so it must never become an opener
    if (match?.isShareImage === true) throw new PortalError("picture_resembles_another");
    if (match?.opener !== undefined) return { kind: "opener", id: match.opener.id, sketch: match.sketch };
    const strength = passphrase === null ? null : await vault.estimateStrength(passphrase);
    // for a known sketch, the engine's enrol skips the self-test, which may require a passphrase
    const gate =
      match === null || (strength !== null && strength >= requiredStrength)
        ? result.gate
        : await vault.engine.inspect(pictureBytes, { ...toEngineOptions(options), selfTest: true });
    throwIfCancelled(options.signal);
    const needsPassphrase = gate.verdict !== GateVerdict.good;
    if (needsPassphrase && passphrase === null)
      throw new PortalError("picture_needs_passphrase", { details: { reasons: gate.reasons } });
    if (strength !== null) requireStrength(strength, needsPassphrase ? requiredStrength : chosenStrength);
    const sketch = match?.sketch ?? result.sketch;
    if (match === null) await savePendingSketch(vault.device, sketch);
    options.onProgress?.({ phase: "passphrase", done: 0, total: 1 });
    return { kind: "image", imageSecret: copyOf(match?.imageSecret ?? result.imageSecretBytes), sketch, passphrase };
  } finally {
    wipe(...imageSecrets);
  }
}

export interface KnownSketch {
  readonly sketch: Sketch;
  /** The opener whose image has this sketch; undefined without one. */
  readonly opener: BookOpener | undefined;
  readonly isShareImage?: boolean;
}

/**
 * Collects all known sketches. Those of current openers come first, so that a picture that was
 * removed and added again matches its current opener.
 */
export async function collectKnownSketches(vault: VaultSession, book: Book, inner: BookInner): Promise<KnownSketch[]> {
  const statusById = new Map(book.images.map((image) => [image.id, image.status]));
  const bookSketches = parseInnerSketches(inner).map(({ imageId, sketch }) => ({
    sketch,
    opener: statusById.get(imageId) === "opener" ? book.openers.find((opener) => opener.id === imageId) : undefined,
    isShareImage: statusById.get(imageId) === "share",
  }));
  const pendingSketches = (await loadPendingSketches(vault.device)).map((sketch) => ({ sketch, opener: undefined }));
  return [
    ...bookSketches.filter(({ opener }) => opener !== undefined),
    ...bookSketches.filter(({ opener }) => opener === undefined),
    ...pendingSketches,
  ];
}

function requireSamePicture(
  match: KnownPicture,
  knownSketches: readonly KnownSketch[],
): KnownSketch & { readonly imageSecret: Uint8Array } {
  if (match.imageSecretBytes === null) throw new PortalError("picture_resembles_another");
  return { ...requireAt(knownSketches, match.index), imageSecret: match.imageSecretBytes };
}

/** An image with helper, opener and slot, not yet in the book. */
export interface CreatedImage {
  readonly entry: BookOpener;
  readonly helperSha256: string;
  readonly sketch: Sketch;
  readonly record: ImageRecord;
  readonly slot: Slot;
  /** Keys of the image's opener; the caller wipes them. */
  readonly opener: OpenerKeys;
}

/** Creates helper, opener and slot of an image. Wipes the image secret. */
export async function createImage(
  vault: VaultSession,
  accountKey: AccountKey,
  { imageSecret, sketch, passphrase }: EnrolledSketch,
  name: string,
): Promise<CreatedImage> {
  try {
    const id = newId(vault.now());
    const createdAt = formatTimestamp(vault.now());
    const { helper, imageRootKey } = await createHelper(imageSecret, sketch, passphrase);
    const opener = await deriveOpenerFromImageRootKey(id, imageRootKey);
    const slot = toBase64url(await sealSlot(opener, vault.userId, accountKey));
    return {
      entry: { id, kind: "image", name, recipient: opener.recipient, created_at: createdAt },
      helperSha256: computeHelperDigest(helper),
      sketch,
      record: { id, helper: toBase64url(helper), created_at: createdAt },
      slot: { opener_id: id, kind: "image", slot },
      opener,
    };
  } finally {
    wipe(imageSecret);
  }
}

/** @param openers all openers of the new book, including the image's entry */
export async function buildBookWithImage(
  { userId }: VaultSession,
  accountKey: AccountKey,
  book: Omit<Book, "inner">,
  inner: BookInner,
  openers: readonly BookOpener[],
  { entry, helperSha256, sketch }: CreatedImage,
): Promise<Book> {
  const images = [
    ...book.images,
    { id: entry.id, status: "opener" as const, helper_sha256: helperSha256, added_at: entry.created_at },
  ];
  const sketches = [...inner.sketches, { image_id: entry.id, sketch: sketchToB64u(sketch) }];
  return completeBook(accountKey, userId, { ...book, openers: [...openers], images }, { ...inner, sketches });
}

export async function addImageToBook(
  vault: VaultSession,
  accountKey: AccountKey,
  image: EnrolledSketch,
  name: string,
  book: Omit<Book, "inner">,
  inner: BookInner,
): Promise<EnrolledImage> {
  const created = await createImage(vault, accountKey, image, name);
  created.opener.wipe();
  return {
    book: await buildBookWithImage(vault, accountKey, book, inner, [...book.openers, created.entry], created),
    record: created.record,
    slot: created.slot,
  };
}

function requireAt<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError("the index is outside the list");
  return item;
}
