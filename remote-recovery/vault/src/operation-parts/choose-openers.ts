import { fromB64u, toB64u, type ImageRecord, type Slot } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { GateVerdict, type KnownPicture, type Sketch } from "@relicario/engine";
import { AccountKey, deriveMetadataKeys } from "../seal/account-key.ts";
import { makeKeyStatement } from "../seal/account-signatures.ts";
import {
  emptyBook,
  emptyBookInner,
  innerSketches,
  openBookInner,
  sealBookInner,
  sketchToB64u,
  type Book,
  type BookInner,
  type BookOpener,
} from "../seal/book.ts";
import type { UnpublishedAccount } from "../device/pending-account.ts";
import { copyOf, wipe, type Bytes } from "../seal/bytes.ts";
import { makeHelper, parseHelper, parseSketch } from "../seal/helper.ts";
import { newId, formatTimestamp } from "../seal/ids.ts";
import { openerFromImageRoot, openSlot, sealSlot, type OpenerKeys } from "../seal/opener.ts";
import { createEmptyShares } from "../seal/shares.ts";
import { throwIfCancelled } from "../throw-if-cancelled.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import {
  type FirstAccount,
  savePendingAccount,
  savePendingSketch,
  loadPendingSketches,
  loadPendingAccount,
} from "../device/pending-account.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { presentOpener } from "./open-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { requireVerifiedOpeners } from "../keyring/verified-openers.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import { toEngineOptions, readPictureBytes } from "./read-picture.ts";
import { helperDigest, recogniseAmong, requireImagePassphrase, nonEmptyPassphrase } from "./recognise-image.ts";
import type { ProtectRequest, PresentedPicture } from "../presented-opener.ts";

/** Key epoch of every account that begins. */
const initialKeyEpoch = 1;

/** Who will be able to open a secret, and what the keyring change must bring for it. */
export interface ChosenOpeners {
  readonly openers: readonly Pick<BookOpener, "id" | "recipient">[];
  /** An image that becomes an opener; null when every opener stands in the book already. */
  readonly enrolledImage: EnrolledImage | null;
  /** The account that begins with it; null when there is one. */
  readonly firstAccount: FirstAccount | null;
}

/**
 * An image made an opener just now: what the keyring change that publishes it needs. Nothing of it
 * is secret.
 */
export interface EnrolledImage {
  /** The book with it. */
  readonly book: Book;
  readonly record: ImageRecord;
  readonly slot: Slot;
}

type Protection = ProtectRequest["protection"];

/**
 * Openers for one writer, over all its tries. `dispose` wipes the picture too: nothing can be
 * chosen after it.
 */
export interface OpenerChooser {
  /**
   * Chosen once for a book, and anew when another device changed it. So a picture is sketched once.
   * Null: there is no account yet.
   */
  readonly choose: (openedKeyring: OpenedKeyring | null) => Promise<ChosenOpeners>;
  readonly dispose: () => void;
}

/** Reads the picture at its first use. @throws PortalError as {@link chooseOpeners}. */
export function createOpenerChooser(
  vault: VaultSession,
  protection: Protection,
  options: OperationOptions,
): OpenerChooser {
  let picture: Bytes | null = null;
  let lastChoice: { readonly book: string | null; readonly chosen: ChosenOpeners } | null = null;
  return {
    choose: async (openedKeyring) => {
      const book = openedKeyring === null ? null : openedKeyring.state.book_sha256;
      if (lastChoice?.book === book) return lastChoice.chosen;
      if (protection.kind === "picture") picture ??= await readPictureBytes(protection.picture.picture);
      lastChoice = { book, chosen: await chooseOpeners(vault, protection, picture, openedKeyring, options) };
      return lastChoice.chosen;
    },
    dispose: () => {
      wipe(picture);
    },
  };
}

/**
 * Recipients come from the book and nowhere else. A picture is compared with every sketch of the
 * book, of removed images too, and with those that an interrupted enrolment left here: no picture
 * is ever sketched twice.
 *
 * - an opener of the book: used again, with the passphrase that it has;
 * - another sketch that it recovers: a new root over that sketch;
 * - one that it only resembles: `picture_resembles_another`;
 * - a new picture: enrolled. Amber takes a passphrase.
 *
 * Sketches and slots take the account key. Without it in memory a picture is first tried as an
 * opener of the account, which brings it; a new one can only follow an opener that was shown.
 *
 * @param picture bytes of the picture when `protection` is one.
 * @throws PortalError `opener_needed`, `show_opener_first`, `picture_too_plain`,
 *   `picture_needs_passphrase`, `picture_resembles_another`, `picture_unreadable`,
 *   `picture_too_large`, `storage_full`.
 */
async function chooseOpeners(
  vault: VaultSession,
  protection: Protection,
  picture: Bytes | null,
  openedKeyring: OpenedKeyring | null,
  options: OperationOptions,
): Promise<ChosenOpeners> {
  if (protection.kind === "openers") {
    if (openedKeyring === null) return choosePending(vault, protection.openers);
    await requireVerifiedOpeners(vault, openedKeyring);
    return chooseExisting(selectFromBook(openedKeyring.book, protection.openers));
  }
  if (picture === null) throw new TypeError("a protection by picture comes with its bytes");
  const passphrase = nonEmptyPassphrase(protection.picture);
  if (openedKeyring === null) {
    const pendingAccount = await openPendingAccount(vault, protection.picture, picture, options);
    const account =
      pendingAccount ?? (await createAccount(vault, protection, picture, passphrase, initialKeyEpoch, options));
    vault.adopt(account.firstAccount, account.accountKey);
    return chooseFirst(account.firstAccount);
  }
  if (vault.accountKey === null) {
    await presentKnownImage(vault, protection.picture, options);
    await requireVerifiedOpeners(vault, openedKeyring);
    return chooseExisting(copyOpeners(openedKeyring.book));
  }
  await requireVerifiedOpeners(vault, openedKeyring);
  const { accountKey } = vault;
  const inner = await openBookInner(accountKey, vault.userId, openedKeyring.book);
  const enrolment = await enrol(
    vault,
    picture,
    passphrase,
    await collectKnownSketches(vault, openedKeyring.book, inner),
    options,
  );
  if (enrolment.kind === "opener") {
    await requireImagePassphrase(vault, openedKeyring.book, enrolment.id, enrolment.sketch, passphrase, options);
    return chooseExisting(copyOpeners(openedKeyring.book));
  }
  const enrolledImage = await addImageToBook(vault, accountKey, enrolment, protection.name, openedKeyring.book, inner);
  return { openers: copyOpeners(enrolledImage.book), enrolledImage, firstAccount: null };
}

function chooseExisting(openers: readonly BookOpener[]): ChosenOpeners {
  return { openers, enrolledImage: null, firstAccount: null };
}

function chooseFirst(firstAccount: FirstAccount): ChosenOpeners {
  return { openers: copyOpeners(firstAccount.book), enrolledImage: null, firstAccount };
}

/**
 * An account that this worker made, or whose picture was shown to it; what only waits on the device
 * takes its picture.
 */
function choosePending(vault: VaultSession, ids: readonly string[]): ChosenOpeners {
  const { pending } = vault;
  if (pending === null) throw new PortalError("opener_needed");
  return { ...chooseFirst(pending), openers: selectFromBook(pending.book, ids) };
}

/**
 * What an account that is started anew begins with, by a picture that becomes its one opener. It is
 * stored as pending; the keys of this worker stay what they are until it is published.
 *
 * @throws PortalError as {@link chooseOpeners} for a new picture.
 */
export async function prepareAccountReset(
  vault: VaultSession,
  protection: Protection & { kind: "picture" },
  keyEpoch: number,
  options: OperationOptions,
): Promise<UnpublishedAccount> {
  const picture = await readPictureBytes(protection.picture.picture);
  try {
    const pending = await loadPendingAccount(vault.device);
    const existing =
      pending?.statement.key_epoch === keyEpoch
        ? await openPendingAccount(vault, protection.picture, picture, options)
        : null;
    return (
      existing ??
      (await createAccount(vault, protection, picture, nonEmptyPassphrase(protection.picture), keyEpoch, options))
    );
  } finally {
    wipe(picture);
  }
}

/**
 * The account that waits on this device, when this is its picture. It is never made twice.
 *
 * @throws PortalError `not_this_picture_or_passphrase`, `picture_has_no_passphrase` for its picture
 *   with another passphrase.
 */
async function openPendingAccount(
  vault: VaultSession,
  presentedPicture: PresentedPicture,
  picture: Bytes,
  options: OperationOptions,
): Promise<UnpublishedAccount | null> {
  const pendingAccount = vault.pending ?? (await loadPendingAccount(vault.device));
  if (pendingAccount === null) return null;
  const image = await recogniseAmong(
    vault,
    presentedPicture,
    [pendingAccount.record],
    pendingAccount.book,
    options,
  ).catch((error: unknown) => {
    if (isPortalError(error, "not_this_picture", "not_this_picture_or_passphrase", "plain_helper_refused")) return null;
    throw error;
  });
  if (image === null) {
    const match = await vault.engine.recover(
      picture,
      [parseSketch(fromB64u(pendingAccount.sketch))],
      toEngineOptions(options),
    );
    if (match.outcome !== "recovered") return null;
    wipe(match.imageSecretBytes);
    const { encrypted } = parseHelper(fromB64u(pendingAccount.record.helper));
    throw new PortalError(encrypted ? "not_this_picture_or_passphrase" : "picture_has_no_passphrase");
  }
  try {
    const accountKey = await openSlot(
      image.opener,
      { userId: vault.userId, keyEpoch: pendingAccount.statement.key_epoch },
      fromB64u(pendingAccount.slot.slot),
    );
    return { accountKey, firstAccount: { ...pendingAccount, keys: await deriveMetadataKeys(accountKey) } };
  } finally {
    image.opener.wipe();
  }
}

/** A new account with this picture, stored before anything is sent. `storage_full`. */
async function createAccount(
  vault: VaultSession,
  protection: Protection & { kind: "picture" },
  picture: Bytes,
  passphrase: string | null,
  keyEpoch: number,
  options: OperationOptions,
): Promise<UnpublishedAccount> {
  const { userId, device } = vault;
  const enrolment = await enrol(
    vault,
    picture,
    passphrase,
    (await loadPendingSketches(device)).map((sketch) => ({ sketch, opener: undefined })),
    options,
  );
  if (enrolment.kind === "opener") throw new TypeError("there is no opener yet");
  const accountKey = AccountKey.generate(keyEpoch);
  const keys = await deriveMetadataKeys(accountKey);
  const { book, record, slot } = await addImageToBook(
    vault,
    accountKey,
    enrolment,
    protection.name,
    emptyBook(),
    emptyBookInner(),
  );
  const firstAccount = {
    keys,
    book,
    shares: await createEmptyShares(accountKey, userId),
    statement: await makeKeyStatement(keys, userId),
    record,
    slot,
    sketch: sketchToB64u(enrolment.sketch),
  };
  await savePendingAccount(device, firstAccount);
  return { accountKey, firstAccount };
}

/**
 * The picture as an opener of the account. @throws PortalError `show_opener_first` for any other
 * picture.
 */
async function presentKnownImage(
  vault: VaultSession,
  presentedPicture: PresentedPicture,
  options: OperationOptions,
): Promise<void> {
  const view = await refreshKeyring(vault, options.signal);
  if (view === null) throw new PortalError("keyring_missing");
  try {
    (await presentOpener(vault, presentedPicture, view, options)).wipe();
  } catch (error) {
    if (isPortalError(error, "not_this_picture", "not_this_picture_or_passphrase"))
      throw new PortalError("show_opener_first", { cause: error });
    throw isPortalError(error, "plain_helper_refused")
      ? new PortalError("picture_has_no_passphrase", { cause: error })
      : error; // the book has this helper
  }
}

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

/** @throws PortalError as {@link chooseOpeners} for a picture. */
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

/** The openers with these ids, all of them when none is named; at least one image is among them. */
function selectFromBook(book: Book, ids: readonly string[]): BookOpener[] {
  const requestedIds = new Set(ids);
  const chosen =
    requestedIds.size === 0 ? copyOpeners(book) : book.openers.filter((opener) => requestedIds.has(opener.id));
  const allFound = requestedIds.size === 0 || chosen.length === requestedIds.size;
  if (!allFound || !chosen.some((opener) => opener.kind === "image")) throw new PortalError("opener_needed");
  return chosen;
}

function copyOpeners(book: Book): BookOpener[] {
  return [...book.openers];
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
  const bookSketches = innerSketches(inner).map(({ imageId, sketch }) => ({
    sketch,
    opener: statusById.get(imageId) === "opener" ? book.openers.find((opener) => opener.id === imageId) : undefined,
    ofShare: statusById.get(imageId) === "share",
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
    const { helper, imageRoot } = await makeHelper(imageSecret, sketch, passphrase);
    const opener = await openerFromImageRoot(id, imageRoot);
    const slot = toB64u(await sealSlot(opener, vault.userId, accountKey));
    return {
      entry: { id, kind: "image", name, recipient: opener.recipient, created_at: createdAt },
      helperSha256: helperDigest(helper),
      sketch,
      record: { id, helper: toB64u(helper), created_at: createdAt },
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
async function addImageToBook(
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
