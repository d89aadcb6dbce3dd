import type { PictureVerdict, RecoveryImage } from "@relicario/shared/contract";

import { bookSketches, type Book } from "../seal/book.ts";
import { wipe } from "../seal/bytes.ts";
import { refuseCancelled, type FlowOptions, type Session } from "../session.ts";
import { readKeyring } from "./read-keyring.ts";
import { engineOptions, pictureBytes } from "./show-image.ts";

/** Images that can open something here, by name. Empty while locked. */
export async function images(session: Session): Promise<RecoveryImage[]> {
  if (session.keys === null) return [];
  const book = (await readKeyring(session))?.opened?.book;
  return book?.openers.filter((opener) => opener.kind === "image").map(presentImage) ?? [];
}

/**
 * Judges a picture with the gate, and says whether it is in the book; the latter only when unlocked.
 *
 * @throws PortalError `picture_unreadable`, `picture_too_large`.
 */
export async function examine(session: Session, picture: Blob, options: FlowOptions): Promise<PictureVerdict> {
  const bytes = await pictureBytes(picture);
  const gate = await session.engine.inspect(bytes, engineOptions(options));
  refuseCancelled(options.signal);
  const book = session.keys === null ? null : ((await readKeyring(session, options.signal))?.opened?.book ?? null);
  return {
    level: gate.verdict,
    reasons: gate.reasons,
    width: gate.width,
    height: gate.height,
    known: book === null || book.images.length === 0 ? null : await findInBook(session, bytes, book, options),
  };
}

async function findInBook(session: Session, picture: Uint8Array, book: Book, options: FlowOptions): Promise<PictureVerdict["known"]> {
  const found = await session.engine.recover(picture, bookSketches(book), engineOptions(options));
  if (found.outcome === "not_this_picture") return null;
  const entry = book.images[found.index];
  const opener = entry?.status === "opener" ? book.openers.find((one) => one.id === entry.id) : undefined;
  const image = opener === undefined ? null : presentImage(opener);
  if (found.outcome === "too_many_errors") return { kind: "resembles", image };
  wipe(found.imageSecretBytes);
  return { kind: "same", image };
}

function presentImage(opener: Book["openers"][number]): RecoveryImage {
  return { id: opener.id, name: opener.name, createdAt: opener.created_at };
}
