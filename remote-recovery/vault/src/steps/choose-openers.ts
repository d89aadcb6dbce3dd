import { fromB64u, toB64u, type ImageRecord, type Slot } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { KnownPicture, Sketch } from "@relicario/engine";
import { AccountKey, deriveTitlesKeys } from "../seal/account-key.ts";
import { makeKeyStatement } from "../seal/account-signatures.ts";
import {
  emptyBook,
  emptyBookInner,
  innerSketches,
  openBookInner,
  sealBookInner,
  sketchB64u,
  type Book,
  type BookInner,
  type BookOpener,
} from "../seal/book.ts";
import { copyOf, wipe, type Bytes } from "../seal/bytes.ts";
import { makeHelper, parseHelper, parseSketch } from "../seal/helper.ts";
import { newId, timestamp } from "../seal/ids.ts";
import { imageOpener, openSlot, sealSlot, type ShownOpener } from "../seal/opener.ts";
import { firstShares } from "../seal/shares.ts";
import { refuseCancelled } from "../cancelled.ts";
import type { ActOptions, FirstAccount, VaultContext } from "../vault-context.ts";
import { showOpener } from "./open-account.ts";
import { keepPending, keepSketch, keptSketches, pendingAccount } from "./pending.ts";
import { readKeyring, requireCheckedOpeners, type OpenedKeyring } from "./read-keyring.ts";
import { engineOptions, pictureBytes } from "./picture.ts";
import { helperDigest, recogniseAmong, requirePassphraseOf, typedPassphrase } from "./recognise-image.ts";
import type { ProtectRequest, ShownPicture } from "../shown-image.ts";

/** Key epoch of every account that begins. */
const firstKeyEpoch = 1;

/** Who will be able to open a secret, and what the keyring change must bring for it. */
export interface ChosenOpeners {
  readonly openers: readonly Pick<BookOpener, "id" | "recipient">[];
  /** An image that becomes an opener; null when every opener stands in the book already. */
  readonly enrolled: EnrolledImage | null;
  /** The account that begins with it; null when there is one. */
  readonly first: FirstAccount | null;
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
 * Openers for one writer, over all its tries. `forget` wipes the picture too: nothing can be chosen
 * after it.
 */
export interface OpenerChoice {
  /**
   * Chosen once for a book, and anew when another device changed it. So a picture is sketched once.
   * Null: there is no account yet.
   */
  readonly from: (opened: OpenedKeyring | null) => Promise<ChosenOpeners>;
  readonly forget: () => void;
}

/** Reads the picture at its first use. @throws PortalError as {@link chooseOpeners}. */
export function openerChoice(vault: VaultContext, protection: Protection, options: ActOptions): OpenerChoice {
  let picture: Bytes | null = null;
  let last: { readonly book: string | null; readonly chosen: ChosenOpeners } | null = null;
  return {
    from: async (opened) => {
      const book = opened === null ? null : opened.state.book_sha256;
      if (last?.book === book) return last.chosen;
      if (protection.kind === "picture") picture ??= await pictureBytes(protection.shown.picture);
      last = { book, chosen: await chooseOpeners(vault, protection, picture, opened, options) };
      return last.chosen;
    },
    forget: () => {
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
  vault: VaultContext,
  protection: Protection,
  picture: Bytes | null,
  opened: OpenedKeyring | null,
  options: ActOptions,
): Promise<ChosenOpeners> {
  if (protection.kind === "openers") {
    if (opened === null) return pendingOpeners(vault, protection.openers);
    await requireCheckedOpeners(vault, opened);
    return standing(fromBook(opened.book, protection.openers));
  }
  if (picture === null) throw new TypeError("a protection by picture comes with its bytes");
  const passphrase = typedPassphrase(protection.shown);
  if (opened === null) {
    const waiting = await openPending(vault, protection.shown, picture, options);
    return firstOf(
      holdFirst(vault, waiting ?? (await beginAccount(vault, protection, picture, passphrase, firstKeyEpoch, options))),
    );
  }
  if (vault.accountKey === null) {
    await showKnownImage(vault, protection.shown, options);
    await requireCheckedOpeners(vault, opened);
    return standing(allOf(opened.book));
  }
  await requireCheckedOpeners(vault, opened);
  const { accountKey } = vault;
  const inner = await openBookInner(accountKey, vault.userId, opened.book);
  const image = await enrol(vault, picture, passphrase, await knownSketches(vault, opened.book, inner), options);
  if (image.kind === "opener") {
    await requirePassphraseOf(vault, opened.book, image.id, image.sketch, passphrase, options);
    return standing(allOf(opened.book));
  }
  const enrolled = await enterImage(vault, accountKey, image, protection.name, opened.book, inner);
  return { openers: allOf(enrolled.book), enrolled, first: null };
}

function standing(openers: readonly BookOpener[]): ChosenOpeners {
  return { openers, enrolled: null, first: null };
}

function firstOf(first: FirstAccount): ChosenOpeners {
  return { openers: allOf(first.book), enrolled: null, first };
}

/**
 * An account that this worker made, or whose picture was shown to it; what only waits on the device
 * takes its picture.
 */
function pendingOpeners(vault: VaultContext, ids: readonly string[]): ChosenOpeners {
  const { pending } = vault;
  if (pending === null) throw new PortalError("opener_needed");
  return { ...firstOf(pending), openers: fromBook(pending.book, ids) };
}

/**
 * What an account that is started anew begins with, by a picture that becomes its one opener. It is
 * stored as pending; the keys of this worker stay what they are until it is published.
 *
 * @throws PortalError as {@link chooseOpeners} for a new picture.
 */
export async function accountAnew(
  vault: VaultContext,
  protection: Protection & { kind: "picture" },
  keyEpoch: number,
  options: ActOptions,
): Promise<NewAccount> {
  const picture = await pictureBytes(protection.shown.picture);
  try {
    const kept = await pendingAccount(vault.device);
    const waiting =
      kept?.statement.key_epoch === keyEpoch ? await openPending(vault, protection.shown, picture, options) : null;
    return (
      waiting ?? (await beginAccount(vault, protection, picture, typedPassphrase(protection.shown), keyEpoch, options))
    );
  } finally {
    wipe(picture);
  }
}

/** From now on this worker has the keys of this account. */
export function holdFirst(vault: VaultContext, { accountKey, first }: NewAccount): FirstAccount {
  vault.accountKey = accountKey;
  vault.pending = first;
  return first;
}

/** An account that is not published yet, with its key. */
export interface NewAccount {
  readonly accountKey: AccountKey;
  readonly first: FirstAccount;
}

/**
 * The account that waits on this device, when this is its picture. It is never made twice.
 *
 * @throws PortalError `not_this_picture_or_passphrase`, `picture_has_no_passphrase` for its picture
 *   with another passphrase.
 */
async function openPending(
  vault: VaultContext,
  shown: ShownPicture,
  picture: Bytes,
  options: ActOptions,
): Promise<NewAccount | null> {
  const waiting = vault.pending ?? (await pendingAccount(vault.device));
  if (waiting === null) return null;
  const image = await recogniseAmong(vault, shown, [waiting.record], waiting.book, options).catch((error: unknown) => {
    if (isPortalError(error, "not_this_picture", "not_this_picture_or_passphrase", "plain_helper_refused")) return null;
    throw error;
  });
  if (image === null) {
    const found = await vault.engine.recover(picture, [parseSketch(fromB64u(waiting.sketch))], engineOptions(options));
    if (found.outcome !== "recovered") return null;
    wipe(found.imageSecretBytes);
    const { encrypted } = parseHelper(fromB64u(waiting.record.helper));
    throw new PortalError(encrypted ? "not_this_picture_or_passphrase" : "picture_has_no_passphrase");
  }
  try {
    const accountKey = await openSlot(
      image.opener,
      { userId: vault.userId, keyEpoch: waiting.statement.key_epoch },
      fromB64u(waiting.slot.slot),
    );
    return { accountKey, first: { ...waiting, keys: await deriveTitlesKeys(accountKey) } };
  } finally {
    image.opener.forget();
  }
}

/** A new account with this picture, stored before anything is sent. `storage_full`. */
async function beginAccount(
  vault: VaultContext,
  protection: Protection & { kind: "picture" },
  picture: Bytes,
  passphrase: string | null,
  keyEpoch: number,
  options: ActOptions,
): Promise<NewAccount> {
  const { userId, device } = vault;
  const image = await enrol(
    vault,
    picture,
    passphrase,
    (await keptSketches(device)).map((sketch) => ({ sketch, opener: undefined })),
    options,
  );
  if (image.kind === "opener") throw new TypeError("there is no opener yet");
  const accountKey = AccountKey.make(keyEpoch);
  const keys = await deriveTitlesKeys(accountKey);
  const { book, record, slot } = await enterImage(
    vault,
    accountKey,
    image,
    protection.name,
    emptyBook(),
    emptyBookInner(),
  );
  const first = {
    keys,
    book,
    shares: await firstShares(accountKey, userId),
    statement: await makeKeyStatement(keys, userId),
    record,
    slot,
    sketch: sketchB64u(image.sketch),
  };
  await keepPending(device, first);
  return { accountKey, first };
}

/**
 * The picture as an opener of the account. @throws PortalError `show_opener_first` for any other
 * picture.
 */
async function showKnownImage(vault: VaultContext, shown: ShownPicture, options: ActOptions): Promise<void> {
  const view = await readKeyring(vault, options.signal);
  if (view === null) throw new PortalError("keyring_missing");
  try {
    (await showOpener(vault, shown, view, options)).forget();
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
  vault: VaultContext,
  picture: Bytes,
  passphrase: string | null,
  known: readonly KnownSketch[],
  options: ActOptions,
): Promise<Enrolment> {
  const result = await vault.engine.enrol(
    picture,
    known.map(({ sketch }) => sketch),
    engineOptions(options),
  );
  const secrets = [result.imageSecretBytes, result.known?.imageSecretBytes];
  try {
    refuseCancelled(options.signal);
    const match = result.known === null ? null : requireSame(result.known, known);
    // others have it: it never becomes an opener
    if (match?.ofShare === true) throw new PortalError("picture_resembles_another");
    if (match?.opener !== undefined) return { kind: "opener", id: match.opener.id, sketch: match.sketch };
    // The engine tests no copies of a picture whose sketch is known, and they may be why it needs a
    // passphrase.
    const gate =
      match === null || passphrase !== null
        ? result.gate
        : await vault.engine.inspect(picture, { ...engineOptions(options), selfTest: true });
    refuseCancelled(options.signal);
    if (gate.verdict !== "green" && passphrase === null)
      throw new PortalError("picture_needs_passphrase", { details: { reasons: gate.reasons } });
    const sketch = match?.sketch ?? result.sketch;
    if (match === null) await keepSketch(vault.device, sketch);
    options.onProgress?.({ phase: "passphrase", done: 0, total: 1 });
    return { kind: "image", imageSecret: copyOf(match?.imageSecret ?? result.imageSecretBytes), sketch, passphrase };
  } finally {
    wipe(...secrets);
  }
}

/** The openers with these ids, all of them when none is named; at least one image is among them. */
function fromBook(book: Book, ids: readonly string[]): BookOpener[] {
  const wanted = new Set(ids);
  const chosen = wanted.size === 0 ? allOf(book) : book.openers.filter((opener) => wanted.has(opener.id));
  const complete = wanted.size === 0 || chosen.length === wanted.size;
  if (!complete || !chosen.some((opener) => opener.kind === "image")) throw new PortalError("opener_needed");
  return chosen;
}

function allOf(book: Book): BookOpener[] {
  return [...book.openers];
}

export interface KnownSketch {
  readonly sketch: Sketch;
  /** The opener that it is the image of, if it is one. */
  readonly opener: BookOpener | undefined;
  /** It is the picture of a share. */
  readonly ofShare?: boolean;
}

/**
 * Current openers come first, so that a picture that was removed and added again is found as the
 * opener that it is now.
 */
export async function knownSketches(vault: VaultContext, book: Book, inner: BookInner): Promise<KnownSketch[]> {
  const status = new Map(book.images.map((image) => [image.id, image.status]));
  const inBook = innerSketches(inner).map(({ imageId, sketch }) => ({
    sketch,
    opener: status.get(imageId) === "opener" ? book.openers.find((opener) => opener.id === imageId) : undefined,
    ofShare: status.get(imageId) === "share",
  }));
  const kept = (await keptSketches(vault.device)).map((sketch) => ({ sketch, opener: undefined }));
  return [
    ...inBook.filter(({ opener }) => opener !== undefined),
    ...inBook.filter(({ opener }) => opener === undefined),
    ...kept,
  ];
}

function requireSame(
  found: KnownPicture,
  known: readonly KnownSketch[],
): KnownSketch & { readonly imageSecret: Uint8Array } {
  if (found.imageSecretBytes === null) throw new PortalError("picture_resembles_another");
  return { ...requireAt(known, found.index), imageSecret: found.imageSecretBytes };
}

/** An image with helper, opener and slot, which stands in no book yet. */
export interface MadeImage {
  readonly entry: BookOpener;
  readonly helperSha256: string;
  readonly sketch: Sketch;
  readonly record: ImageRecord;
  readonly slot: Slot;
  /** Forget it. */
  readonly opener: ShownOpener;
}

/** Makes helper, opener and slot of an image. Its secret is wiped. */
export async function makeImage(
  vault: VaultContext,
  accountKey: AccountKey,
  { imageSecret, sketch, passphrase }: EnrolledSketch,
  name: string,
): Promise<MadeImage> {
  try {
    const id = newId(vault.now());
    const createdAt = timestamp(vault.now());
    const { helper, imageRoot } = await makeHelper(imageSecret, sketch, passphrase);
    const opener = await imageOpener(id, imageRoot);
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
  { userId }: VaultContext,
  accountKey: AccountKey,
  book: Omit<Book, "inner">,
  inner: BookInner,
  openers: readonly BookOpener[],
  { entry, helperSha256, sketch }: MadeImage,
): Promise<Book> {
  const images = [
    ...book.images,
    { id: entry.id, status: "opener" as const, helper_sha256: helperSha256, added_at: entry.created_at },
  ];
  const sketches = [...inner.sketches, { image_id: entry.id, sketch: sketchB64u(sketch) }];
  const sealed = await sealBookInner(accountKey, userId, {
    ...inner,
    openers: openers.map(({ id, recipient }) => ({ id, recipient })),
    sketches,
  });
  return { ...book, openers: [...openers], images, inner: sealed };
}

/** Makes an image and enters it into the book. */
async function enterImage(
  vault: VaultContext,
  accountKey: AccountKey,
  image: EnrolledSketch,
  name: string,
  book: Omit<Book, "inner">,
  inner: BookInner,
): Promise<EnrolledImage> {
  const made = await makeImage(vault, accountKey, image, name);
  made.opener.forget();
  return {
    book: await bookWithImage(vault, accountKey, book, inner, [...book.openers, made.entry], made),
    record: made.record,
    slot: made.slot,
  };
}

function requireAt<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError("no such item");
  return item;
}
