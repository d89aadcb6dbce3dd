import type { PictureVerdict, RecoveryImage } from "@relicario/shared/contract";

import type { AccountKey } from "../seal/account-key.ts";
import { innerSketches, openBookInner, type Book } from "../seal/book.ts";
import { wipe } from "../seal/bytes.ts";
import { refuseCancelled, type ActOptions, type VaultContext } from "../vault-context.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import { engineOptions, pictureBytes } from "../steps/recognise-image.ts";

/** Images that can open something here, by name. Empty while locked. */
export async function images(vault: VaultContext): Promise<RecoveryImage[]> {
  if (vault.keys === null) return [];
  const book = (await readKeyring(vault))?.opened?.book;
  return book?.openers.filter((opener) => opener.kind === "image").map(presentImage) ?? [];
}

/**
 * Judges a picture with the gate, and says whether it is in the book; the latter only once an opener was shown, since sketches take
 * the account key.
 *
 * @throws PortalError `picture_unreadable`, `picture_too_large`.
 */
export async function examine(vault: VaultContext, picture: Blob, options: ActOptions = {}): Promise<PictureVerdict> {
  const bytes = await pictureBytes(picture);
  const gate = await vault.engine.inspect(bytes, engineOptions(options));
  refuseCancelled(options.signal);
  const book = vault.keys === null ? null : ((await readKeyring(vault, options.signal))?.opened?.book ?? null);
  return {
    level: gate.verdict,
    reasons: gate.reasons,
    width: gate.width,
    height: gate.height,
    known: book === null || vault.accountKey === null ? null : await findInBook(vault, vault.accountKey, bytes, book, options),
  };
}

async function findInBook(vault: VaultContext, accountKey: AccountKey, picture: Uint8Array, book: Book, options: ActOptions): Promise<PictureVerdict["known"]> {
  const known = innerSketches(await openBookInner(accountKey, vault.userId, book));
  const found = await vault.engine.recover(picture, known.map(({ sketch }) => sketch), engineOptions(options));
  if (found.outcome === "not_this_picture") return null;
  const entry = book.images.find(({ id }) => id === known[found.index]?.imageId);
  const opener = entry?.status === "opener" ? book.openers.find((one) => one.id === entry.id) : undefined;
  const image = opener === undefined ? null : presentImage(opener);
  if (found.outcome === "too_many_errors") return { kind: "resembles", image };
  wipe(found.imageSecretBytes);
  return { kind: "same", image };
}

function presentImage(opener: Book["openers"][number]): RecoveryImage {
  return { id: opener.id, name: opener.name, createdAt: opener.created_at };
}
