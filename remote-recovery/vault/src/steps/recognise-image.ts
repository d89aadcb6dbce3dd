import { fromB64u, toB64u, type ImageRecord } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { RecoverOptions, Sketch } from "@relicario/engine";
import type { Book } from "../seal/book.ts";
import { copyOf, equalBytes, sha256, wipe, type Bytes } from "../seal/bytes.ts";
import { openHelper, parseHelper, sketchBytes, sketchOf, type Helper } from "../seal/helper.ts";
import { imageOpener, type ShownOpener } from "../seal/opener.ts";
import { refuseCancelled } from "../cancelled.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import type { ShownPicture } from "../shown-image.ts";
import { engineOptions, pictureBytes } from "./picture.ts";

/** An image that was shown now and recognised, with the digest of the helper that recognised it. */
export interface RecognisedImage {
  readonly opener: ShownOpener;
  /** base64url; must be the book's. */
  readonly helperSha256: string;
}

interface Candidate {
  readonly record: ImageRecord;
  readonly helper: Helper;
}

interface Candidates {
  readonly candidates: readonly Candidate[];
  /** What is wrong with one that cannot be tried. */
  readonly broken: PortalError | null;
}

/**
 * Finds the image record that a shown picture opens.
 *
 * Without a passphrase every plain helper is scored in one search. With one only encrypted helpers
 * are tried (one Argon2id each), and a plain one that fits is refused: a server that has the
 * picture could answer with a helper of its own.
 *
 * @param book once unlocked, every helper must have its digest in it.
 * @throws PortalError `not_this_picture`, `not_this_picture_or_passphrase`, `plain_helper_refused`,
 *   `helper_changed`, `decryption_failed`, `picture_unreadable`, `picture_too_large`.
 */
export async function recogniseImage(
  vault: VaultContext,
  shown: ShownPicture,
  book: Book | null,
  options: ActOptions,
): Promise<RecognisedImage> {
  options.onProgress?.({ phase: "fetching", done: 0, total: 1 });
  return recogniseAmong(vault, shown, await vault.service.imageRecords(options.signal), book, options);
}

/** What recognising takes of a vault; a kit has it too. */
type Recogniser = Pick<VaultContext, "engine">;

/** The same among given image records. */
export async function recogniseAmong(
  vault: Recogniser,
  shown: ShownPicture,
  records: readonly ImageRecord[],
  book: Book | null,
  options: ActOptions,
): Promise<RecognisedImage> {
  const given = candidatesOf(records, book);
  const picture = await pictureBytes(shown.picture);
  try {
    return await recogniseBytes(vault, given, picture, shown, options);
  } finally {
    wipe(picture);
  }
}

async function recogniseBytes(
  vault: Recogniser,
  { candidates, broken }: Candidates,
  picture: Bytes,
  shown: ShownPicture,
  options: ActOptions,
): Promise<RecognisedImage> {
  const passphrase = typedPassphrase(shown);
  const plain = candidates.filter(({ helper }) => !helper.encrypted);
  const encrypted = candidates.filter(({ helper }) => helper.encrypted);
  const tried = passphrase === null ? plain : encrypted;

  const sketches: Sketch[] = [];
  for (const [index, { helper }] of tried.entries()) {
    refuseCancelled(options.signal);
    if (helper.encrypted) options.onProgress?.({ phase: "passphrase", done: index, total: tried.length });
    sketches.push(await sketchOf(helper, passphrase));
  }
  const found =
    sketches.length === 0 ? null : await vault.engine.recover(picture, sketches, searchOptions(shown, options));
  if (found?.outcome !== "recovered") {
    const plainFits = passphrase !== null && (await fitsPlain(vault, picture, plain, searchOptions(shown, options)));
    if (plainFits) throw new PortalError("plain_helper_refused");
    if (broken !== null) throw broken;
    throw new PortalError(
      passphrase === null && encrypted.length === 0 ? "not_this_picture" : "not_this_picture_or_passphrase",
    );
  }

  const candidate = tried[found.index];
  const sketch = sketches[found.index];
  const imageSecret = copyOf(found.imageSecretBytes);
  wipe(found.imageSecretBytes);
  try {
    if (candidate === undefined || sketch === undefined) throw new PortalError("decryption_failed");
    refuseCancelled(options.signal);
    options.onProgress?.({ phase: "passphrase", done: tried.length, total: tried.length });
    const imageRoot = await openHelper(candidate.helper, sketch, imageSecret, passphrase);
    return {
      opener: await imageOpener(candidate.record.id, imageRoot),
      helperSha256: helperDigest(candidate.helper.bytes),
    };
  } finally {
    wipe(imageSecret);
  }
}

/** An empty passphrase is none. */
export function typedPassphrase({ passphrase }: ShownPicture): string | null {
  return passphrase === "" ? null : passphrase;
}

/**
 * Refuses a passphrase that is not the one of an image of the book, and one where the image has
 * none: else it would be dropped, and whoever typed it would believe in it. Costs one Argon2id
 * where the image has one: the sketch in its helper is encrypted under the passphrase, and the book
 * has it plain.
 *
 * @throws PortalError `not_this_picture_or_passphrase`, `picture_has_no_passphrase`,
 *   `helper_changed`.
 */
export async function requirePassphraseOf(
  vault: VaultContext,
  book: Book,
  imageId: string,
  sketch: Sketch,
  passphrase: string | null,
  options: ActOptions,
): Promise<void> {
  const helper = await requireHelperOf(vault, book, imageId, options);
  if (!helper.encrypted) {
    if (passphrase !== null) throw new PortalError("picture_has_no_passphrase");
    return;
  }
  if (passphrase === null) throw new PortalError("not_this_picture_or_passphrase");
  options.onProgress?.({ phase: "passphrase", done: 0, total: 1 });
  const opened = sketchBytes(await sketchOf(helper, passphrase));
  refuseCancelled(options.signal);
  options.onProgress?.({ phase: "passphrase", done: 1, total: 1 });
  if (!equalBytes(opened, sketchBytes(sketch))) throw new PortalError("not_this_picture_or_passphrase");
}

/**
 * The helper of an image of the book. @throws PortalError `helper_changed` when it is missing, or
 * not the one of the book.
 */
export async function requireHelperOf(
  vault: VaultContext,
  book: Book,
  imageId: string,
  { signal }: ActOptions,
): Promise<Helper> {
  const record = (await vault.service.imageRecords(signal)).find(({ id }) => id === imageId);
  const bytes = record === undefined ? null : fromB64u(record.helper);
  const digest = book.images.find(({ id }) => id === imageId)?.helper_sha256;
  if (bytes === null || helperDigest(bytes) !== digest) throw new PortalError("helper_changed");
  return parseHelper(bytes);
}

/** Sketches of the book's images whose helpers are not encrypted. */
export async function plainHelpers(
  vault: VaultContext,
  book: Book,
  { signal }: ActOptions,
): Promise<{ readonly imageId: string; readonly sketch: Sketch }[]> {
  const { candidates } = candidatesOf(await vault.service.imageRecords(signal), book);
  const plain = candidates.filter(({ helper }) => !helper.encrypted);
  return Promise.all(
    plain.map(async ({ record, helper }) => ({ imageId: record.id, sketch: await sketchOf(helper, null) })),
  );
}

/** SHA-256 of a helper as the book has it. */
export function helperDigest(helper: Uint8Array): string {
  return toB64u(sha256(helper));
}

/** The same, looking where the person says that the picture is. */
function searchOptions({ hint }: ShownPicture, options: ActOptions): RecoverOptions {
  return { ...engineOptions(options), ...(hint === undefined ? {} : { hint }) };
}

/**
 * The helpers that can be used. A broken, missing or changed one is not tried, but remembered: when
 * no other fits, it is the answer, rather than "not this picture".
 */
function candidatesOf(records: readonly ImageRecord[], book: Book | null): Candidates {
  const digests = book === null ? null : new Map(book.images.map((image) => [image.id, image.helper_sha256]));
  const candidates: Candidate[] = [];
  let broken: PortalError | null = null;
  for (const record of records) {
    try {
      const helper = parseHelper(fromB64u(record.helper));
      if (digests !== null && digests.get(record.id) !== helperDigest(helper.bytes))
        throw new PortalError("helper_changed");
      candidates.push({ record, helper });
    } catch (error) {
      if (!isPortalError(error, "decryption_failed", "helper_changed")) throw error;
      broken = error;
    }
  }
  const present = new Set(records.map((record) => record.id));
  const missing = book?.openers.some((opener) => opener.kind === "image" && !present.has(opener.id)) ?? false;
  return { candidates, broken: broken ?? (missing ? new PortalError("helper_changed") : null) };
}

async function fitsPlain(
  vault: Recogniser,
  picture: Bytes,
  plain: readonly Candidate[],
  options: RecoverOptions,
): Promise<boolean> {
  if (plain.length === 0) return false;
  const sketches = await Promise.all(plain.map(({ helper }) => sketchOf(helper, null)));
  const found = await vault.engine.recover(picture, sketches, options);
  if (found.outcome === "recovered") wipe(found.imageSecretBytes);
  return found.outcome === "recovered";
}
