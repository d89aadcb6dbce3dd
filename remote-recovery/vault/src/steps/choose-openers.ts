import { fromB64u, toB64u, type ImageRecord } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import type { KnownPicture, Sketch } from "@relicario/engine";
import { bookSketches, emptyBook, sketchB64u, type Book, type BookImage, type BookOpener } from "../seal/book.ts";
import { copyOf, wipe, type Bytes } from "../seal/bytes.ts";
import { makeHelper } from "../seal/helper.ts";
import { newId, timestamp } from "../seal/ids.ts";
import { imageOpener, type ShownOpener } from "../seal/opener.ts";
import { refuseCancelled, type ActOptions, type VaultContext } from "../vault-context.ts";
import { keepSketch, keptSketches } from "./pending.ts";
import { engineOptions, helperDigest, pictureBytes, requirePassphraseOf, typedPassphrase } from "./recognise-image.ts";
import type { ProtectRequest } from "../shown-image.ts";

/** Who will be able to open a secret, and the image that becomes an opener with it. */
export interface ChosenOpeners {
  readonly openers: readonly Pick<BookOpener, "id" | "recipient">[];
  /** Null when every opener stands in the book already. */
  readonly fresh: FreshImage | null;
  /** The book with the fresh image in it. */
  readonly book: Book;
}

/** An image made an opener just now: what the keyring change that publishes it needs. */
export interface FreshImage {
  readonly opener: ShownOpener;
  readonly record: ImageRecord;
  readonly sketch: Sketch;
}

type Protection = ProtectRequest["protection"];

/** Openers for one writer, over all its tries. `forget` wipes the picture too: nothing can be chosen after it. */
export interface OpenerChoice {
  /** Chosen once for a book, and anew when another device changed it. So a picture is sketched once. Null: there is no book yet. */
  readonly from: (book: Book | null) => Promise<ChosenOpeners>;
  readonly forget: () => void;
}

/** Reads the picture at its first use. @throws PortalError as {@link chooseOpeners}. */
export function openerChoice(vault: VaultContext, protection: Protection, options: ActOptions): OpenerChoice {
  let picture: Bytes | null = null;
  let last: { readonly book: string; readonly chosen: ChosenOpeners } | null = null;
  const forgetChosen = (): void => last?.chosen.fresh?.opener.forget();
  return {
    from: async (given) => {
      const book = given ?? emptyBook();
      const name = JSON.stringify(book);
      if (last?.book === name) return last.chosen;
      forgetChosen();
      if (protection.kind === "picture") picture ??= await pictureBytes(protection.shown.picture);
      last = { book: name, chosen: await chooseOpeners(vault, protection, picture, book, options) };
      return last.chosen;
    },
    forget: () => {
      forgetChosen();
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
 * @param picture bytes of the picture when `protection` is one.
 * @throws PortalError `opener_needed`, `picture_too_plain`, `picture_needs_passphrase`, `picture_resembles_another`,
 *   `not_this_picture_or_passphrase`, `picture_has_no_passphrase`, `helper_changed`, `picture_unreadable`, `picture_too_large`, `storage_full`.
 */
async function chooseOpeners(vault: VaultContext, protection: Protection, picture: Bytes | null, book: Book, options: ActOptions): Promise<ChosenOpeners> {
  if (protection.kind === "openers") return { openers: fromBook(book, protection.openers), fresh: null, book };
  if (picture === null) throw new TypeError("a protection by picture comes with its bytes");
  const passphrase = typedPassphrase(protection.shown);

  const known = await knownSketches(vault, book);
  const result = await vault.engine.enrol(picture, known.map(({ sketch }) => sketch), engineOptions(options));
  const secrets = [result.imageSecretBytes, result.known?.imageSecretBytes];
  try {
    refuseCancelled(options.signal);
    const match = result.known === null ? null : requireSame(result.known, known);
    if (match?.opener !== undefined) {
      await requirePassphraseOf(vault, book, match.opener.id, match.sketch, passphrase, options);
      return { openers: allOf(book), fresh: null, book };
    }
    if (result.gate.verdict !== "green" && passphrase === null) throw new PortalError("picture_needs_passphrase", { details: { reasons: result.gate.reasons } });

    const sketch = match?.sketch ?? result.sketch;
    if (match === null) await keepSketch(vault.device, sketch);
    options.onProgress?.({ phase: "passphrase", done: 0, total: 1 });
    const imageSecret = copyOf(match?.imageSecret ?? result.imageSecretBytes);
    const fresh = await freshImage(vault, imageSecret, sketch, passphrase);
    options.onProgress?.({ phase: "passphrase", done: 1, total: 1 });
    const entered = enterImage(book, fresh, protection.name);
    return { openers: allOf(entered), fresh, book: entered };
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
}

/** Current openers come first, so that a picture that was removed and added again is found as the opener that it is now. */
async function knownSketches(vault: VaultContext, book: Book): Promise<KnownSketch[]> {
  const sketches = bookSketches(book);
  const inBook = book.images.map((image, index) => ({
    sketch: requireAt(sketches, index),
    opener: image.status === "opener" ? book.openers.find((opener) => opener.id === image.id) : undefined,
  }));
  const kept = (await keptSketches(vault.device)).map((sketch) => ({ sketch, opener: undefined }));
  return [...inBook.filter(({ opener }) => opener !== undefined), ...inBook.filter(({ opener }) => opener === undefined), ...kept];
}

function requireSame(found: KnownPicture, known: readonly KnownSketch[]): KnownSketch & { readonly imageSecret: Uint8Array } {
  if (found.imageSecretBytes === null) throw new PortalError("picture_resembles_another");
  return { ...requireAt(known, found.index), imageSecret: found.imageSecretBytes };
}

async function freshImage(vault: VaultContext, imageSecret: Bytes, sketch: Sketch, passphrase: string | null): Promise<FreshImage> {
  try {
    const id = newId(vault.now());
    const { helper, imageRoot } = await makeHelper(imageSecret, sketch, passphrase);
    return { opener: await imageOpener(id, imageRoot), record: { id, helper: toB64u(helper), created_at: timestamp(vault.now()) }, sketch };
  } finally {
    wipe(imageSecret);
  }
}

function enterImage(book: Book, { opener, record, sketch }: FreshImage, name: string): Book {
  const entry: BookOpener = { id: record.id, kind: "image", name, recipient: opener.recipient, created_at: record.created_at };
  const image: BookImage = { id: record.id, status: "opener", helper_sha256: helperDigest(fromB64u(record.helper)), sketch: sketchB64u(sketch), added_at: record.created_at };
  return { ...book, openers: [...book.openers, entry], images: [...book.images, image] };
}

function requireAt<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError("no such item");
  return item;
}
