import { fromB64u, toB64u, type ImageRecord, type Slot } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { KnownPicture, Sketch } from "@relicario/engine";
import { AccountKey, deriveTitlesKeys } from "../seal/account-key.ts";
import { makeKeyStatement } from "../seal/account-signatures.ts";
import { emptyBook, emptyBookInner, innerSketches, openBookInner, sealBookInner, sketchB64u, type Book, type BookInner, type BookOpener } from "../seal/book.ts";
import { copyOf, wipe, type Bytes } from "../seal/bytes.ts";
import { makeHelper, parseHelper, parseSketch } from "../seal/helper.ts";
import { newId, timestamp } from "../seal/ids.ts";
import { imageOpener, openSlot, sealSlot } from "../seal/opener.ts";
import { firstShares } from "../seal/shares.ts";
import { refuseCancelled } from "../cancelled.ts";
import type { ActOptions, FirstAccount, VaultContext } from "../vault-context.ts";
import { showImage } from "./open-account.ts";
import { keepPending, keepSketch, keptSketches, pendingAccount } from "./pending.ts";
import { readKeyring, requireCheckedOpeners, type OpenedKeyring } from "./read-keyring.ts";
import { engineOptions, pictureBytes } from "./picture.ts";
import { helperDigest, recogniseAmong, requirePassphraseOf, typedPassphrase } from "./recognise-image.ts";
import type { ProtectRequest, ShownPicture } from "../shown-image.ts";

/** Key epoch of every account key that was never rotated. */
const firstKeyEpoch = 1;

/** Who will be able to open a secret, and what the keyring change must bring for it. */
export interface ChosenOpeners {
  readonly openers: readonly Pick<BookOpener, "id" | "recipient">[];
  /** An image that becomes an opener; null when every opener stands in the book already. */
  readonly enrolled: EnrolledImage | null;
  /** The account that begins with it; null when there is one. */
  readonly first: FirstAccount | null;
}

/** An image made an opener just now: what the keyring change that publishes it needs. Nothing of it is secret. */
export interface EnrolledImage {
  /** The book with it. */
  readonly book: Book;
  readonly record: ImageRecord;
  readonly slot: Slot;
}

type Protection = ProtectRequest["protection"];

/** Openers for one writer, over all its tries. `forget` wipes the picture too: nothing can be chosen after it. */
export interface OpenerChoice {
  /** Chosen once for a book, and anew when another device changed it. So a picture is sketched once. Null: there is no account yet. */
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
 * Recipients come from the book and nowhere else. A picture is compared with every sketch of the book, of removed images
 * too, and with those that an interrupted enrolment left here: no picture is ever sketched twice.
 *
 * - an opener of the book: used again, with the passphrase that it has;
 * - another sketch that it recovers: a new root over that sketch;
 * - one that it only resembles: `picture_resembles_another`;
 * - a new picture: enrolled. Amber takes a passphrase.
 *
 * Sketches and slots take the account key. Without it in memory a picture is first tried as an opener of the account, which brings
 * it; a new one can only follow an opener that was shown.
 *
 * @param picture bytes of the picture when `protection` is one.
 * @throws PortalError `opener_needed`, `show_opener_first`, `picture_too_plain`, `picture_needs_passphrase`,
 *   `picture_resembles_another`, `picture_unreadable`, `picture_too_large`, `storage_full`.
 */
async function chooseOpeners(vault: VaultContext, protection: Protection, picture: Bytes | null, opened: OpenedKeyring | null, options: ActOptions): Promise<ChosenOpeners> {
  if (protection.kind === "openers") {
    if (opened === null) return pendingOpeners(vault, protection.openers);
    await requireCheckedOpeners(vault, opened);
    return standing(fromBook(opened.book, protection.openers));
  }
  if (picture === null) throw new TypeError("a protection by picture comes with its bytes");
  const passphrase = typedPassphrase(protection.shown);
  if (opened === null) {
    const waiting = await openPending(vault, protection.shown, picture, options);
    return waiting === null ? beginAccount(vault, protection, picture, passphrase, options) : firstOf(waiting);
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

/** An account that this worker made, or whose picture was shown to it; what only waits on the device takes its picture. */
function pendingOpeners(vault: VaultContext, ids: readonly string[]): ChosenOpeners {
  const { pending } = vault;
  if (pending === null) throw new PortalError("opener_needed");
  return { ...firstOf(pending), openers: fromBook(pending.book, ids) };
}

/**
 * The account that waits on this device, when this is its picture. It is never made twice.
 *
 * @throws PortalError `not_this_picture_or_passphrase`, `picture_has_no_passphrase` for its picture with another passphrase.
 */
async function openPending(vault: VaultContext, shown: ShownPicture, picture: Bytes, options: ActOptions): Promise<FirstAccount | null> {
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
    const accountKey = await openSlot(image.opener, { userId: vault.userId, keyEpoch: firstKeyEpoch }, fromB64u(waiting.slot.slot));
    return holdFirst(vault, accountKey, { ...waiting, keys: await deriveTitlesKeys(accountKey) });
  } finally {
    image.opener.forget();
  }
}

/** A new account with this picture, stored before anything is sent. `storage_full`. */
async function beginAccount(vault: VaultContext, protection: Protection & { kind: "picture" }, picture: Bytes, passphrase: string | null, options: ActOptions): Promise<ChosenOpeners> {
  const { userId, device } = vault;
  const image = await enrol(vault, picture, passphrase, (await keptSketches(device)).map((sketch) => ({ sketch, opener: undefined })), options);
  if (image.kind === "opener") throw new TypeError("there is no opener yet");
  const accountKey = AccountKey.make(firstKeyEpoch);
  const keys = await deriveTitlesKeys(accountKey);
  const { book, record, slot } = await enterImage(vault, accountKey, image, protection.name, emptyBook(), emptyBookInner());
  const first = { keys, book, shares: await firstShares(accountKey, userId), statement: await makeKeyStatement(keys, userId), record, slot, sketch: sketchB64u(image.sketch) };
  await keepPending(device, first);
  return firstOf(holdFirst(vault, accountKey, first));
}

function holdFirst(vault: VaultContext, accountKey: AccountKey, first: FirstAccount): FirstAccount {
  vault.accountKey = accountKey;
  vault.pending = first;
  return first;
}

/** The picture as an opener of the account. @throws PortalError `show_opener_first` for any other picture. */
async function showKnownImage(vault: VaultContext, shown: ShownPicture, options: ActOptions): Promise<void> {
  const view = await readKeyring(vault, options.signal);
  if (view === null) throw new PortalError("keyring_missing");
  try {
    (await showImage(vault, shown, view, options)).forget();
  } catch (error) {
    if (isPortalError(error, "not_this_picture", "not_this_picture_or_passphrase")) throw new PortalError("show_opener_first", { cause: error });
    throw isPortalError(error, "plain_helper_refused") ? new PortalError("picture_has_no_passphrase", { cause: error }) : error; // the book has this helper
  }
}

/** What a picture is to this account: one of its openers, or an image that is enrolled now. Wipe its secret. */
type Enrolment = { readonly kind: "opener"; readonly id: string; readonly sketch: Sketch } | { readonly kind: "image"; readonly imageSecret: Bytes; readonly sketch: Sketch; readonly passphrase: string | null };

async function enrol(vault: VaultContext, picture: Bytes, passphrase: string | null, known: readonly KnownSketch[], options: ActOptions): Promise<Enrolment> {
  const result = await vault.engine.enrol(picture, known.map(({ sketch }) => sketch), engineOptions(options));
  const secrets = [result.imageSecretBytes, result.known?.imageSecretBytes];
  try {
    refuseCancelled(options.signal);
    const match = result.known === null ? null : requireSame(result.known, known);
    if (match?.ofShare === true) throw new PortalError("picture_resembles_another"); // others have it: it never becomes an opener
    if (match?.opener !== undefined) return { kind: "opener", id: match.opener.id, sketch: match.sketch };
    if (result.gate.verdict !== "green" && passphrase === null) throw new PortalError("picture_needs_passphrase", { details: { reasons: result.gate.reasons } });
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

interface KnownSketch {
  readonly sketch: Sketch;
  /** The opener that it is the image of, if it is one. */
  readonly opener: BookOpener | undefined;
  /** It is the picture of a share. */
  readonly ofShare?: boolean;
}

/** Current openers come first, so that a picture that was removed and added again is found as the opener that it is now. */
async function knownSketches(vault: VaultContext, book: Book, inner: BookInner): Promise<KnownSketch[]> {
  const status = new Map(book.images.map((image) => [image.id, image.status]));
  const inBook = innerSketches(inner).map(({ imageId, sketch }) => ({
    sketch,
    opener: status.get(imageId) === "opener" ? book.openers.find((opener) => opener.id === imageId) : undefined,
    ofShare: status.get(imageId) === "share",
  }));
  const kept = (await keptSketches(vault.device)).map((sketch) => ({ sketch, opener: undefined }));
  return [...inBook.filter(({ opener }) => opener !== undefined), ...inBook.filter(({ opener }) => opener === undefined), ...kept];
}

function requireSame(found: KnownPicture, known: readonly KnownSketch[]): KnownSketch & { readonly imageSecret: Uint8Array } {
  if (found.imageSecretBytes === null) throw new PortalError("picture_resembles_another");
  return { ...requireAt(known, found.index), imageSecret: found.imageSecretBytes };
}

/** Makes helper, opener and slot of an image, and enters it into the book. */
async function enterImage(vault: VaultContext, accountKey: AccountKey, image: Enrolment & { kind: "image" }, name: string, book: Omit<Book, "inner">, inner: BookInner): Promise<EnrolledImage> {
  const { imageSecret, sketch, passphrase } = image;
  try {
    const id = newId(vault.now());
    const createdAt = timestamp(vault.now());
    const { helper, imageRoot } = await makeHelper(imageSecret, sketch, passphrase);
    const opener = await imageOpener(id, imageRoot);
    const slot = await sealSlot(opener, vault.userId, accountKey);
    opener.forget();
    const openers = [...book.openers, { id, kind: "image" as const, name, recipient: opener.recipient, created_at: createdAt }];
    const images = [...book.images, { id, status: "opener" as const, helper_sha256: helperDigest(helper), added_at: createdAt }];
    const sketches = [...inner.sketches, { image_id: id, sketch: sketchB64u(sketch) }];
    const sealedInner = await sealBookInner(accountKey, vault.userId, { ...inner, openers: openers.map(({ id, recipient }) => ({ id, recipient })), sketches });
    return {
      book: { ...book, openers, images, inner: sealedInner },
      record: { id, helper: toB64u(helper), created_at: createdAt },
      slot: { opener_id: id, kind: "image", slot: toB64u(slot) },
    };
  } finally {
    wipe(imageSecret);
  }
}

function requireAt<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError("no such item");
  return item;
}
