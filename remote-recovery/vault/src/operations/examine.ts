import type { RecoveryImage } from "@relicario/shared/contract";

import type { GateReport } from "@relicario/engine";
import type { AccountKey } from "../seal/account-key.ts";
import { parseInnerSketches, openBookInner, sketchToB64u, type Book, type BookOpener } from "../seal/book.ts";
import { wipe, type Bytes } from "../seal/bytes.ts";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { toEngineOptions, readPictureBytes } from "../openers/read-picture.ts";
import { readPlainSketches, requireImageHelper } from "../openers/recognise-image.ts";

export interface PictureVerdict {
  readonly level: GateReport["verdict"];
  readonly reasons: readonly string[];
  readonly width: number;
  readonly height: number;
  readonly known: KnownImage | null;
}

/**
 * `same`: an existing image, which is used again with its passphrase, if any. `removed`: a former
 * image, which becomes a new one. `resembles`: a cropped or edited copy of an existing image, or
 * the picture of a share.
 */
type KnownImage =
  | { readonly kind: "same"; readonly image: RecoveryImage; readonly passphrase: "needed" | "none" }
  | { readonly kind: "removed" }
  | { readonly kind: "resembles"; readonly image: RecoveryImage | null };

/** Images of the account; empty while locked. */
export async function listImages(vault: VaultSession): Promise<RecoveryImage[]> {
  if (vault.keys === null) return [];
  const book = (await refreshKeyring(vault))?.openedKeyring?.book;
  return book?.openers.filter((opener) => opener.kind === "image").map(toRecoveryImage) ?? [];
}

/**
 * Matches a picture with the book, and judges it with the gate. A new or removed image also gets
 * the self-test, like on enrolment. Sketches need the account key; without it, finds only images
 * without a passphrase.
 *
 * @throws PortalError `picture_unreadable`, `picture_too_large`, `helper_changed`
 */
export async function examinePicture(
  vault: VaultSession,
  picture: Blob,
  options: OperationOptions = {},
): Promise<PictureVerdict> {
  const bytes = await readPictureBytes(picture);
  try {
    const book =
      vault.keys === null ? null : ((await refreshKeyring(vault, options.signal))?.openedKeyring?.book ?? null);
    const known =
      book === null
        ? null
        : vault.accountKey === null
          ? await findByPlainHelper(vault, bytes, book, options)
          : await findInBook(vault, vault.accountKey, bytes, book, options);
    throwIfCancelled(options.signal);
    const gate = await vault.engine.inspect(bytes, {
      ...toEngineOptions(options),
      selfTest: known === null || known.kind === "removed",
    });
    throwIfCancelled(options.signal);
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
  vault: VaultSession,
  accountKey: AccountKey,
  picture: Bytes,
  book: Book,
  options: OperationOptions,
): Promise<KnownImage | null> {
  const knownSketches = parseInnerSketches(await openBookInner(accountKey, vault.userId, book));
  const match = await vault.engine.recover(
    picture,
    knownSketches.map(({ sketch }) => sketch),
    toEngineOptions(options),
  );
  if (match.outcome === "not_this_picture") return null;
  // An image that was removed and added again is in the book twice, with one sketch.
  const sketch = knownSketches[match.index]?.sketch;
  const ids = knownSketches
    .filter((knownSketch) => sketch !== undefined && sketchToB64u(knownSketch.sketch) === sketchToB64u(sketch))
    .map(({ imageId }) => imageId);
  const opener = book.openers.find(({ id }) => ids.includes(id));
  if (match.outcome === "too_many_errors")
    return { kind: "resembles", image: opener === undefined ? null : toRecoveryImage(opener) };
  wipe(match.imageSecretBytes);
  if (opener === undefined)
    return ids.some((id) => book.images.some((image) => image.id === id && image.status === "share"))
      ? { kind: "resembles", image: null }
      : { kind: "removed" };
  const { requiresPassphrase } = await requireImageHelper(vault, book, opener.id, options);
  return { kind: "same", image: toRecoveryImage(opener), passphrase: requiresPassphrase ? "needed" : "none" };
}

/** Finds an image without a passphrase by its public helper. Other images need the account key. */
async function findByPlainHelper(
  vault: VaultSession,
  picture: Bytes,
  book: Book,
  options: OperationOptions,
): Promise<KnownImage | null> {
  const plainSketches = await readPlainSketches(vault, book, options);
  const match =
    plainSketches.length === 0
      ? null
      : await vault.engine.recover(
          picture,
          plainSketches.map(({ sketch }) => sketch),
          toEngineOptions(options),
        );
  if (match?.outcome !== "recovered") return null;
  wipe(match.imageSecretBytes);
  const opener = book.openers.find(({ id }) => id === plainSketches[match.index]?.imageId);
  return opener === undefined ? null : { kind: "same", image: toRecoveryImage(opener), passphrase: "none" };
}

function toRecoveryImage(opener: BookOpener): RecoveryImage {
  return { id: opener.id, name: opener.name, createdAt: opener.created_at };
}
