import { fromBase64url, toBase64url, type ImageRecord } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { RecoverOptions, Sketch } from "@relicario/engine";
import type { Book } from "../seal/book.ts";
import { copyOf, equalBytes, sha256, wipe, type Bytes } from "../seal/bytes.ts";
import { unwrapImageRootKey, parseHelper, serializeSketch, extractSketch, type Helper } from "../seal/helper.ts";
import { deriveOpenerFromImageRootKey, type OpenerKeys } from "../seal/opener.ts";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { PresentedPicture } from "../rpc/presented-opener.ts";
import { toEngineOptions, readPictureBytes } from "./read-picture.ts";

/** An image that was shown now and recognised, with the digest of the helper that recognised it. */
export interface RecognisedImage {
  readonly opener: OpenerKeys;
  /** base64url; must be the book's. */
  readonly helperSha256: string;
}

interface Candidate {
  readonly record: ImageRecord;
  readonly helper: Helper;
}

interface CandidateSet {
  readonly candidates: readonly Candidate[];
  /** What is wrong with one that cannot be tried. */
  readonly candidateError: PortalError | null;
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
  vault: VaultSession,
  presentedPicture: PresentedPicture,
  book: Book | null,
  options: OperationOptions,
): Promise<RecognisedImage> {
  options.onProgress?.({ phase: "fetching", done: 0, total: 1 });
  return recogniseAmong(vault, presentedPicture, await vault.service.getImageRecords(options.signal), book, options);
}

/** What recognising takes of a vault; a kit has it too. */
type RecogniseDeps = Pick<VaultSession, "engine">;

/** The same among given image records. */
export async function recogniseAmong(
  vault: RecogniseDeps,
  presentedPicture: PresentedPicture,
  records: readonly ImageRecord[],
  book: Book | null,
  options: OperationOptions,
): Promise<RecognisedImage> {
  const candidateSet = collectCandidates(records, book);
  const picture = await readPictureBytes(presentedPicture.picture);
  try {
    return await recogniseBytes(vault, candidateSet, picture, presentedPicture, options);
  } finally {
    wipe(picture);
  }
}

async function recogniseBytes(
  vault: RecogniseDeps,
  { candidates, candidateError }: CandidateSet,
  picture: Bytes,
  presentedPicture: PresentedPicture,
  options: OperationOptions,
): Promise<RecognisedImage> {
  const passphrase = nonEmptyPassphrase(presentedPicture);
  const plain = candidates.filter(({ helper }) => !helper.encrypted);
  const encrypted = candidates.filter(({ helper }) => helper.encrypted);
  const eligible = passphrase === null ? plain : encrypted;

  const sketches: Sketch[] = [];
  for (const [index, { helper }] of eligible.entries()) {
    throwIfCancelled(options.signal);
    if (helper.encrypted) options.onProgress?.({ phase: "passphrase", done: index, total: eligible.length });
    sketches.push(await extractSketch(helper, passphrase));
  }
  const match =
    sketches.length === 0
      ? null
      : await vault.engine.recover(picture, sketches, searchOptions(presentedPicture, options));
  if (match?.outcome !== "recovered") {
    const matchesPlain =
      passphrase !== null &&
      (await matchesPlainHelper(vault, picture, plain, searchOptions(presentedPicture, options)));
    if (matchesPlain) throw new PortalError("plain_helper_refused");
    if (candidateError !== null) throw candidateError;
    throw new PortalError(
      passphrase === null && encrypted.length === 0 ? "not_this_picture" : "not_this_picture_or_passphrase",
    );
  }

  const candidate = eligible[match.index];
  const sketch = sketches[match.index];
  const imageSecret = copyOf(match.imageSecretBytes);
  wipe(match.imageSecretBytes);
  try {
    if (candidate === undefined || sketch === undefined) throw new PortalError("decryption_failed");
    throwIfCancelled(options.signal);
    options.onProgress?.({ phase: "passphrase", done: eligible.length, total: eligible.length });
    const imageRoot = await unwrapImageRootKey(candidate.helper, sketch, imageSecret, passphrase);
    return {
      opener: await deriveOpenerFromImageRootKey(candidate.record.id, imageRoot),
      helperSha256: helperDigest(candidate.helper.bytes),
    };
  } finally {
    wipe(imageSecret);
  }
}

/** An empty passphrase is none. */
export function nonEmptyPassphrase({ passphrase }: PresentedPicture): string | null {
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
export async function requireImagePassphrase(
  vault: VaultSession,
  book: Book,
  imageId: string,
  sketch: Sketch,
  passphrase: string | null,
  options: OperationOptions,
): Promise<void> {
  const helper = await requireImageHelper(vault, book, imageId, options);
  if (!helper.encrypted) {
    if (passphrase !== null) throw new PortalError("picture_has_no_passphrase");
    return;
  }
  if (passphrase === null) throw new PortalError("not_this_picture_or_passphrase");
  options.onProgress?.({ phase: "passphrase", done: 0, total: 1 });
  const decryptedSketch = serializeSketch(await extractSketch(helper, passphrase));
  throwIfCancelled(options.signal);
  options.onProgress?.({ phase: "passphrase", done: 1, total: 1 });
  if (!equalBytes(decryptedSketch, serializeSketch(sketch))) throw new PortalError("not_this_picture_or_passphrase");
}

/**
 * The helper of an image of the book. @throws PortalError `helper_changed` when it is missing, or
 * not the one of the book.
 */
export async function requireImageHelper(
  vault: VaultSession,
  book: Book,
  imageId: string,
  { signal }: OperationOptions,
): Promise<Helper> {
  const record = (await vault.service.getImageRecords(signal)).find(({ id }) => id === imageId);
  const bytes = record === undefined ? null : fromBase64url(record.helper);
  const digest = book.images.find(({ id }) => id === imageId)?.helper_sha256;
  if (bytes === null || helperDigest(bytes) !== digest) throw new PortalError("helper_changed");
  return parseHelper(bytes);
}

/** Sketches of the book's images whose helpers are not encrypted. */
export async function readPlainSketches(
  vault: VaultSession,
  book: Book,
  { signal }: OperationOptions,
): Promise<{ readonly imageId: string; readonly sketch: Sketch }[]> {
  const { candidates } = collectCandidates(await vault.service.getImageRecords(signal), book);
  const plain = candidates.filter(({ helper }) => !helper.encrypted);
  return Promise.all(
    plain.map(async ({ record, helper }) => ({ imageId: record.id, sketch: await extractSketch(helper, null) })),
  );
}

/** SHA-256 of a helper as the book has it. */
export function helperDigest(helper: Uint8Array): string {
  return toBase64url(sha256(helper));
}

/** The same, looking where the person says that the picture is. */
function searchOptions({ hint }: PresentedPicture, options: OperationOptions): RecoverOptions {
  return { ...toEngineOptions(options), ...(hint === undefined ? {} : { hint }) };
}

/**
 * The helpers that can be used. A broken, missing or changed one is not tried, but remembered: when
 * no other fits, it is the answer, rather than "not this picture".
 */
function collectCandidates(records: readonly ImageRecord[], book: Book | null): CandidateSet {
  const digests = book === null ? null : new Map(book.images.map((image) => [image.id, image.helper_sha256]));
  const candidates: Candidate[] = [];
  let candidateError: PortalError | null = null;
  for (const record of records) {
    try {
      const helper = parseHelper(fromBase64url(record.helper));
      if (digests !== null && digests.get(record.id) !== helperDigest(helper.bytes))
        throw new PortalError("helper_changed");
      candidates.push({ record, helper });
    } catch (error) {
      if (!isPortalError(error, "decryption_failed", "helper_changed")) throw error;
      candidateError = error;
    }
  }
  const presentIds = new Set(records.map((record) => record.id));
  const isMissing = book?.openers.some((opener) => opener.kind === "image" && !presentIds.has(opener.id)) ?? false;
  return { candidates, candidateError: candidateError ?? (isMissing ? new PortalError("helper_changed") : null) };
}

async function matchesPlainHelper(
  vault: RecogniseDeps,
  picture: Bytes,
  plain: readonly Candidate[],
  options: RecoverOptions,
): Promise<boolean> {
  if (plain.length === 0) return false;
  const sketches = await Promise.all(plain.map(({ helper }) => extractSketch(helper, null)));
  const match = await vault.engine.recover(picture, sketches, options);
  if (match.outcome === "recovered") wipe(match.imageSecretBytes);
  return match.outcome === "recovered";
}
