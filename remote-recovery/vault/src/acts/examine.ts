import type { RecoveryImage } from "@relicario/shared/contract";

import type { GateReport } from "@relicario/engine";
import { bookSketches, type Book, type BookImage, type BookOpener } from "../seal/book.ts";
import { wipe, type Bytes } from "../seal/bytes.ts";
import { refuseCancelled, type ActOptions, type VaultContext } from "../vault-context.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import { engineOptions, pictureBytes, requireHelperOf } from "../steps/recognise-image.ts";

/** What the gate and the book say of a picture. */
export interface PictureVerdict {
  readonly level: GateReport["verdict"];
  readonly reasons: readonly string[];
  readonly width: number;
  readonly height: number;
  readonly known: KnownImage | null;
}

/**
 * A picture that is not new. `same`: it opens already and is used again, with the passphrase that it has, or with none.
 * `removed`: it opened once, and becomes a new image. `resembles`: a cropped or edited copy of one in use.
 */
export type KnownImage =
  | { readonly kind: "same"; readonly image: RecoveryImage; readonly passphrase: "needed" | "none" }
  | { readonly kind: "removed" }
  | { readonly kind: "resembles"; readonly image: RecoveryImage | null };

/** Images that can open something here, by name. Empty while locked. */
export async function images(vault: VaultContext): Promise<RecoveryImage[]> {
  if (vault.keys === null) return [];
  const book = (await readKeyring(vault))?.opened?.book;
  return book?.openers.filter((opener) => opener.kind === "image").map(presentImage) ?? [];
}

/**
 * Judges a picture with the gate, and says whether it is in the book; the latter only when unlocked.
 *
 * @throws PortalError `picture_unreadable`, `picture_too_large`, `helper_changed`.
 */
export async function examine(vault: VaultContext, picture: Blob, options: ActOptions = {}): Promise<PictureVerdict> {
  const bytes = await pictureBytes(picture);
  try {
    const gate = await vault.engine.inspect(bytes, engineOptions(options));
    refuseCancelled(options.signal);
    const book = vault.keys === null ? null : ((await readKeyring(vault, options.signal))?.opened?.book ?? null);
    return {
      level: gate.verdict,
      reasons: gate.reasons,
      width: gate.width,
      height: gate.height,
      known: book === null || book.images.length === 0 ? null : await findInBook(vault, bytes, book, options),
    };
  } finally {
    wipe(bytes);
  }
}

async function findInBook(vault: VaultContext, picture: Bytes, book: Book, options: ActOptions): Promise<KnownImage | null> {
  const found = await vault.engine.recover(picture, bookSketches(book), engineOptions(options));
  if (found.outcome === "not_this_picture") return null;
  const opener = openerWith(book.images[found.index], book);
  if (found.outcome === "too_many_errors") return { kind: "resembles", image: opener === undefined ? null : presentImage(opener) };
  wipe(found.imageSecretBytes);
  if (opener === undefined) return { kind: "removed" };
  const { encrypted } = await requireHelperOf(vault, book, opener.id, options);
  return { kind: "same", image: presentImage(opener), passphrase: encrypted ? "needed" : "none" };
}

/** The opener that has this sketch: an image that was removed and added again stands in the book twice. */
function openerWith(image: BookImage | undefined, book: Book): BookOpener | undefined {
  const ids = book.images.filter(({ status, sketch }) => status === "opener" && sketch === image?.sketch).map(({ id }) => id);
  return book.openers.find((opener) => ids.includes(opener.id));
}

function presentImage(opener: BookOpener): RecoveryImage {
  return { id: opener.id, name: opener.name, createdAt: opener.created_at };
}
