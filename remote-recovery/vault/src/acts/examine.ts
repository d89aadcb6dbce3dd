import type { RecoveryImage } from "@relicario/shared/contract";

import type { GateReport } from "@relicario/engine";
import type { AccountKey } from "../seal/account-key.ts";
import { innerSketches, openBookInner, sketchB64u, type Book, type BookOpener } from "../seal/book.ts";
import { wipe, type Bytes } from "../seal/bytes.ts";
import { refuseCancelled } from "../cancelled.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import { engineOptions, pictureBytes } from "../steps/picture.ts";
import { plainHelpers, requireHelperOf } from "../steps/recognise-image.ts";

/** What the gate and the book say of a picture. */
export interface PictureVerdict {
  readonly level: GateReport["verdict"];
  readonly reasons: readonly string[];
  readonly width: number;
  readonly height: number;
  readonly known: KnownImage | null;
}

/**
 * A picture that is not new. `same`: it opens already and is used again, with the passphrase that
 * it has, or with none. `removed`: it opened once, and becomes a new image. `resembles`: a cropped
 * or edited copy of one in use, or the picture of a share.
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
 * Says whether a picture is in the book, whole only once an opener was shown, since sketches take
 * the account key; and judges it with the gate, and one that would become an image with the
 * self-test, as enrolling will.
 *
 * @throws PortalError `picture_unreadable`, `picture_too_large`, `helper_changed`.
 */
export async function examine(vault: VaultContext, picture: Blob, options: ActOptions = {}): Promise<PictureVerdict> {
  const bytes = await pictureBytes(picture);
  try {
    const book = vault.keys === null ? null : ((await readKeyring(vault, options.signal))?.opened?.book ?? null);
    const known =
      book === null
        ? null
        : vault.accountKey === null
          ? await findPlain(vault, bytes, book, options)
          : await findInBook(vault, vault.accountKey, bytes, book, options);
    refuseCancelled(options.signal);
    const gate = await vault.engine.inspect(bytes, {
      ...engineOptions(options),
      selfTest: known === null || known.kind === "removed",
    });
    refuseCancelled(options.signal);
    return {
      level: gate.verdict,
      reasons: gate.reasons,
      width: gate.width,
      height: gate.height,
      known,
    };
  } finally {
    wipe(bytes);
  }
}

async function findInBook(
  vault: VaultContext,
  accountKey: AccountKey,
  picture: Bytes,
  book: Book,
  options: ActOptions,
): Promise<KnownImage | null> {
  const known = innerSketches(await openBookInner(accountKey, vault.userId, book));
  const found = await vault.engine.recover(
    picture,
    known.map(({ sketch }) => sketch),
    engineOptions(options),
  );
  if (found.outcome === "not_this_picture") return null;
  // An image that was removed and added again stands in the book twice, with one sketch.
  const sketch = known[found.index]?.sketch;
  const ids = known
    .filter((one) => sketch !== undefined && sketchB64u(one.sketch) === sketchB64u(sketch))
    .map(({ imageId }) => imageId);
  const opener = book.openers.find(({ id }) => ids.includes(id));
  if (found.outcome === "too_many_errors")
    return { kind: "resembles", image: opener === undefined ? null : presentImage(opener) };
  wipe(found.imageSecretBytes);
  if (opener === undefined)
    return ids.some((id) => book.images.some((image) => image.id === id && image.status === "share"))
      ? { kind: "resembles", image: null }
      : { kind: "removed" };
  const { encrypted } = await requireHelperOf(vault, book, opener.id, options);
  return { kind: "same", image: presentImage(opener), passphrase: encrypted ? "needed" : "none" };
}

/**
 * Without the account key: an image in use that has no passphrase is known by its helper. Of the
 * others nothing can be said yet.
 */
async function findPlain(
  vault: VaultContext,
  picture: Bytes,
  book: Book,
  options: ActOptions,
): Promise<KnownImage | null> {
  const plain = await plainHelpers(vault, book, options);
  const found =
    plain.length === 0
      ? null
      : await vault.engine.recover(
          picture,
          plain.map(({ sketch }) => sketch),
          engineOptions(options),
        );
  if (found?.outcome !== "recovered") return null;
  wipe(found.imageSecretBytes);
  const opener = book.openers.find(({ id }) => id === plain[found.index]?.imageId);
  return opener === undefined ? null : { kind: "same", image: presentImage(opener), passphrase: "none" };
}

function presentImage(opener: BookOpener): RecoveryImage {
  return { id: opener.id, name: opener.name, createdAt: opener.created_at };
}
