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

export interface RecognisedImage {
  readonly opener: OpenerKeys;
  /** Digest of the helper, base64url; must equal the book's. */
  readonly helperSha256: string;
  /** Whether the picture opens the account without a passphrase. */
  readonly isPlain: boolean;
}

interface Candidate {
  readonly record: ImageRecord;
  readonly helper: Helper;
}

interface CandidateSet {
  readonly candidates: readonly Candidate[];
  /** Error of a helper that cannot be tried; null if there is none. */
  readonly candidateError: PortalError | null;
}

/**
 * Finds the image record that a picture opens.
 *
 * Without a passphrase, all plain helpers are scored in one search. With a passphrase, only
 * encrypted helpers are tried, each with one Argon2id. A plain helper that then fits the picture is
 * refused, because a server that has the picture could have created it.
 *
 * @param book null while locked; otherwise it must have the digest of every helper
 * @throws PortalError `not_this_picture`, `not_this_picture_or_passphrase`, `plain_helper_refused`,
 *   `helper_changed`, `decryption_failed`, `picture_unreadable`, `picture_too_large`
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

/** What recognising needs; kits provide it too. */
type RecogniseDeps = Pick<VaultSession, "engine">;

/** Like {@link recogniseImage}, among the given records. */
export async function recogniseAmong(
  vault: RecogniseDeps,
  presentedPicture: PresentedPicture,
  records: readonly ImageRecord[],
  book: Book | null,
  options: OperationOptions,
): Promise<RecognisedImage> {
  const candidateSet = collectCandidates(records, book);
  const pictureBytes = await readPictureBytes(presentedPicture.picture);
  try {
    return await recogniseBytes(vault, candidateSet, pictureBytes, presentedPicture, options);
  } finally {
    wipe(pictureBytes);
  }
}

async function recogniseBytes(
  vault: RecogniseDeps,
  { candidates, candidateError }: CandidateSet,
  pictureBytes: Bytes,
  presentedPicture: PresentedPicture,
  options: OperationOptions,
): Promise<RecognisedImage> {
  const passphrase = nonEmptyPassphrase(presentedPicture);
  const plainCandidates = candidates.filter(({ helper }) => !helper.requiresPassphrase);
  const encryptedCandidates = candidates.filter(({ helper }) => helper.requiresPassphrase);
  const eligibleCandidates = passphrase === null ? plainCandidates : encryptedCandidates;

  const sketches: Sketch[] = [];
  for (const [index, { helper }] of eligibleCandidates.entries()) {
    throwIfCancelled(options.signal);
    if (helper.requiresPassphrase)
      options.onProgress?.({ phase: "passphrase", done: index, total: eligibleCandidates.length });
    sketches.push(await extractSketch(helper, passphrase));
  }
  const match =
    sketches.length === 0
      ? null
      : await vault.engine.recover(pictureBytes, sketches, toRecoverOptions(presentedPicture, options));
  if (match?.outcome !== "recovered") {
    const matchesPlain =
      passphrase !== null &&
      (await matchesPlainHelper(vault, pictureBytes, plainCandidates, toRecoverOptions(presentedPicture, options)));
    if (matchesPlain) throw new PortalError("plain_helper_refused");
    if (candidateError !== null) throw candidateError;
    throw new PortalError(
      passphrase === null && encryptedCandidates.length === 0 ? "not_this_picture" : "not_this_picture_or_passphrase",
    );
  }

  const candidate = eligibleCandidates[match.index];
  const sketch = sketches[match.index];
  const imageSecret = copyOf(match.imageSecretBytes);
  wipe(match.imageSecretBytes);
  try {
    if (candidate === undefined || sketch === undefined) throw new PortalError("decryption_failed");
    throwIfCancelled(options.signal);
    options.onProgress?.({ phase: "passphrase", done: eligibleCandidates.length, total: eligibleCandidates.length });
    const imageRootKey = await unwrapImageRootKey(candidate.helper, sketch, imageSecret, passphrase);
    return {
      opener: await deriveOpenerFromImageRootKey(candidate.record.id, imageRootKey),
      helperSha256: computeHelperDigest(candidate.helper.bytes),
      isPlain: passphrase === null,
    };
  } finally {
    wipe(imageSecret);
  }
}

export function nonEmptyPassphrase({ passphrase }: PresentedPicture): string | null {
  return passphrase === "" ? null : passphrase;
}

/**
 * Refuses any passphrase but the image's, and any passphrase for an image without one, because
 * people would rely on it. For an image with a passphrase, runs one Argon2id to decrypt the
 * helper's sketch and compares it with the book's.
 *
 * @throws PortalError `not_this_picture_or_passphrase`, `picture_has_no_passphrase`,
 *   `helper_changed`
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
  if (!helper.requiresPassphrase) {
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
 * Fetches the helper of an image.
 * @throws PortalError `helper_changed` if it is missing or its digest is not the book's
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
  if (bytes === null || computeHelperDigest(bytes) !== digest) throw new PortalError("helper_changed");
  return parseHelper(bytes);
}

export async function readPlainSketches(
  vault: VaultSession,
  book: Book,
  { signal }: OperationOptions,
): Promise<{ readonly imageId: string; readonly sketch: Sketch }[]> {
  const { candidates } = collectCandidates(await vault.service.getImageRecords(signal), book);
  const plainCandidates = candidates.filter(({ helper }) => !helper.requiresPassphrase);
  return Promise.all(
    plainCandidates.map(async ({ record, helper }) => ({
      imageId: record.id,
      sketch: await extractSketch(helper, null),
    })),
  );
}

/** SHA-256 in the form that the book has, base64url. */
export function computeHelperDigest(helper: Uint8Array): string {
  return toBase64url(sha256(helper));
}

/** Adds the person's hint where in the picture to search. */
function toRecoverOptions({ hint }: PresentedPicture, options: OperationOptions): RecoverOptions {
  return { ...toEngineOptions(options), ...(hint === undefined ? {} : { hint }) };
}

/**
 * Collects the usable helpers. A broken or changed helper becomes `candidateError`, which is thrown
 * instead of "not this picture" if no other helper fits.
 */
function collectCandidates(records: readonly ImageRecord[], book: Book | null): CandidateSet {
  const digests = book === null ? null : new Map(book.images.map((image) => [image.id, image.helper_sha256]));
  const candidates: Candidate[] = [];
  let candidateError: PortalError | null = null;
  for (const record of records) {
    try {
      const helper = parseHelper(fromBase64url(record.helper));
      if (digests !== null && digests.get(record.id) !== computeHelperDigest(helper.bytes))
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
  pictureBytes: Bytes,
  plainCandidates: readonly Candidate[],
  options: RecoverOptions,
): Promise<boolean> {
  if (plainCandidates.length === 0) return false;
  const sketches = await Promise.all(plainCandidates.map(({ helper }) => extractSketch(helper, null)));
  const match = await vault.engine.recover(pictureBytes, sketches, options);
  if (match.outcome === "recovered") wipe(match.imageSecretBytes);
  return match.outcome === "recovered";
}
