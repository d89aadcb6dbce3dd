import { toBase64url, type ImageRecord, type Slot } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { GateVerdict, type KnownPicture, type Sketch } from "@relicario/engine";
import type { AccountKey } from "../seal/account-key.ts";
import {
  parseInnerSketches,
  sealBookInner,
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
import { toEngineOptions } from "./read-picture.ts";
import { helperDigest } from "./recognise-image.ts";

/**
 * What a picture is to this account: one of its openers, or an image that is enrolled now. Wipe its
 * secret.
 */
type Enrolment =
  | { readonly kind: "opener"; readonly id: string; readonly sketch: Sketch }
  | ({ readonly kind: "image" } & EnrolledSketch);

export interface EnrolledSketch {
  readonly imageSecret: Bytes;
  readonly sketch: Sketch;
  readonly passphrase: string | null;
}

/**
 * Makes an image of a picture, or finds the opener that it is. Compared with every known sketch: no
 * picture is ever sketched twice.
 *
 * @throws PortalError `picture_too_plain`, `picture_needs_passphrase`, `picture_resembles_another`,
 *   `picture_unreadable`, `storage_full`.
 */
export async function enrol(
  vault: VaultSession,
  picture: Bytes,
  passphrase: string | null,
  knownSketches: readonly KnownSketch[],
  options: OperationOptions,
): Promise<Enrolment> {
  const result = await vault.engine.enrol(
    picture,
    knownSketches.map(({ sketch }) => sketch),
    toEngineOptions(options),
  );
  const imageSecrets = [result.imageSecretBytes, result.knownPicture?.imageSecretBytes];
  try {
    throwIfCancelled(options.signal);
    const match = result.knownPicture === null ? null : requireSamePicture(result.knownPicture, knownSketches);
    // others have it: it never becomes an opener
    if (match?.isShareImage === true) throw new PortalError("picture_resembles_another");
    if (match?.opener !== undefined) return { kind: "opener", id: match.opener.id, sketch: match.sketch };
    // The engine tests no copies of a picture whose sketch is known, and they may be why it needs a
    // passphrase.
    const gate =
      match === null || passphrase !== null
        ? result.gate
        : await vault.engine.inspect(picture, { ...toEngineOptions(options), selfTest: true });
    throwIfCancelled(options.signal);
    if (gate.verdict !== GateVerdict.good && passphrase === null)
      throw new PortalError("picture_needs_passphrase", { details: { reasons: gate.reasons } });
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
  /** The opener that it is the image of, if it is one. */
  readonly opener: BookOpener | undefined;
  /** It is the picture of a share. */
  readonly isShareImage?: boolean;
}

/**
 * Current openers come first, so that a picture that was removed and added again is found as the
 * opener that it is now.
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

/** An image with helper, opener and slot, which stands in no book yet. */
export interface CreatedImage {
  readonly entry: BookOpener;
  readonly helperSha256: string;
  readonly sketch: Sketch;
  readonly record: ImageRecord;
  readonly slot: Slot;
  /** Forget it. */
  readonly opener: OpenerKeys;
}

/** Makes helper, opener and slot of an image. Its secret is wiped. */
export async function createImage(
  vault: VaultSession,
  accountKey: AccountKey,
  { imageSecret, sketch, passphrase }: EnrolledSketch,
  name: string,
): Promise<CreatedImage> {
  try {
    const id = newId(vault.now());
    const createdAt = formatTimestamp(vault.now());
    const { helper, imageRoot } = await createHelper(imageSecret, sketch, passphrase);
    const opener = await deriveOpenerFromImageRootKey(id, imageRoot);
    const slot = toBase64url(await sealSlot(opener, vault.userId, accountKey));
    return {
      entry: { id, kind: "image", name, recipient: opener.recipient, created_at: createdAt },
      helperSha256: helperDigest(helper),
      sketch,
      record: { id, helper: toBase64url(helper), created_at: createdAt },
      slot: { opener_id: id, kind: "image", slot },
      opener,
    };
  } finally {
    wipe(imageSecret);
  }
}

/** The book with these openers, and with an image, which is one of them. */
export async function bookWithImage(
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
  const sealed = await sealBookInner(accountKey, userId, {
    ...inner,
    openers: openers.map(({ id, recipient }) => ({ id, recipient })),
    sketches,
  });
  return { ...book, openers: [...openers], images, inner: sealed };
}

/** Makes an image and enters it into the book. */
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
    book: await bookWithImage(vault, accountKey, book, inner, [...book.openers, created.entry], created),
    record: created.record,
    slot: created.slot,
  };
}

function requireAt<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError("no such item");
  return item;
}
