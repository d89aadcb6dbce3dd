import { isPortalError, PortalError } from "@relicario/shared/errors";

import { openBookInner, type Book, type BookOpener } from "../seal/book.ts";
import type { NewAccountDocuments } from "../device/pending-account.ts";
import { wipe, type Bytes } from "../seal/bytes.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { prepareAccount } from "./prepare-account.ts";
import { addImageToBook, collectKnownSketches, enrol } from "./enrol-image.ts";
import type { EnrolledImage } from "../keyring/build-keyring-change.ts";
import { presentOpener } from "./open-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { requireVerifiedInner } from "../keyring/verified-inner.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import { readPictureBytes } from "./read-picture.ts";
import { requireImagePassphrase, nonEmptyPassphrase } from "./recognise-image.ts";
import type { Protection, PresentedPicture } from "../rpc/presented-opener.ts";

/** The openers of a secret, and the parts of the keyring change that they require. */
export interface ChosenOpeners {
  readonly openers: readonly Pick<BookOpener, "id" | "recipient">[];
  /** An image that becomes an opener; null if the book already has all openers. */
  readonly enrolledImage: EnrolledImage | null;
  /** The account that this change creates; null if there is an account. */
  readonly newAccount: NewAccountDocuments | null;
}

/**
 * Chooses openers for all attempts of one writer. `dispose` wipes the picture; do not call `choose`
 * afterwards.
 */
export interface OpenerChooser {
  /**
   * Chooses once per book, so that a picture is sketched once.
   *
   * @param openedKeyring null if there is no account yet
   */
  readonly choose: (openedKeyring: OpenedKeyring | null) => Promise<ChosenOpeners>;
  readonly dispose: () => void;
}

/**
 * Reads the picture on first use.
 * @throws PortalError those of {@link chooseOpeners}
 */
export function createOpenerChooser(
  vault: VaultSession,
  protection: Protection,
  options: OperationOptions,
): OpenerChooser {
  let pictureBytes: Bytes | null = null;
  let lastChoice: { readonly bookDigest: string | null; readonly chosenOpeners: ChosenOpeners } | null = null;
  return {
    choose: async (openedKeyring) => {
      const bookDigest = openedKeyring === null ? null : openedKeyring.state.book_sha256;
      if (lastChoice?.bookDigest === bookDigest) return lastChoice.chosenOpeners;
      if (protection.kind === "picture") pictureBytes ??= await readPictureBytes(protection.picture.picture);
      const chosenOpeners = await chooseOpeners(vault, protection, pictureBytes, openedKeyring, options);
      lastChoice = { bookDigest, chosenOpeners };
      return chosenOpeners;
    },
    dispose: () => {
      wipe(pictureBytes);
    },
  };
}

/**
 * Chooses openers; takes recipients only from the book. Compares a picture with all sketches of the
 * book, including those of removed images, and of interrupted enrolments, so that no picture is
 * sketched twice:
 *
 * - a picture that is an opener of the book is used again, with its existing passphrase;
 * - a picture that has another known sketch gets a new image root key for that sketch;
 * - a picture that only resembles a known one is refused: `picture_resembles_another`;
 * - a new picture is enrolled. A marginal one needs a passphrase.
 *
 * Reading sketches and sealing slots need the account key. Without this key, the picture is first
 * tried as an opener of the account, which provides the key. A new picture then needs another
 * opener to be presented first.
 *
 * @param pictureBytes null unless `protection` is a picture
 * @throws PortalError `opener_needed`, `show_opener_first`, and those of {@link enrol}
 */
async function chooseOpeners(
  vault: VaultSession,
  protection: Protection,
  pictureBytes: Bytes | null,
  openedKeyring: OpenedKeyring | null,
  options: OperationOptions,
): Promise<ChosenOpeners> {
  if (protection.kind === "openers") {
    if (openedKeyring === null) return chooseFromPendingAccount(vault, protection.openerIds);
    await requireVerifiedInner(vault, openedKeyring);
    return chooseExisting(selectFromBook(openedKeyring.book, protection.openerIds));
  }
  if (pictureBytes === null) throw new TypeError("a protection by picture needs its bytes");
  const passphrase = nonEmptyPassphrase(protection.picture);
  if (openedKeyring === null) {
    const account = await prepareAccount(vault, protection, pictureBytes, options);
    vault.adopt(account);
    return chooseFromNewAccount(account.documents);
  }
  if (vault.accountKey === null) {
    await presentKnownImage(vault, protection.picture, options);
    await requireVerifiedInner(vault, openedKeyring);
    return chooseExisting(copyOpeners(openedKeyring.book));
  }
  await requireVerifiedInner(vault, openedKeyring);
  const { accountKey } = vault;
  const inner = await openBookInner(accountKey, vault.userId, openedKeyring.book);
  const enrolment = await enrol(
    vault,
    pictureBytes,
    passphrase,
    await collectKnownSketches(vault, openedKeyring.book, inner),
    options,
  );
  if (enrolment.kind === "opener") {
    await requireImagePassphrase(vault, openedKeyring.book, enrolment.id, enrolment.sketch, passphrase, options);
    return chooseExisting(copyOpeners(openedKeyring.book));
  }
  const enrolledImage = await addImageToBook(vault, accountKey, enrolment, protection.name, openedKeyring.book, inner);
  return { openers: copyOpeners(enrolledImage.book), enrolledImage, newAccount: null };
}

function chooseExisting(openers: readonly BookOpener[]): ChosenOpeners {
  return { openers, enrolledImage: null, newAccount: null };
}

function chooseFromNewAccount(newAccount: NewAccountDocuments): ChosenOpeners {
  return { openers: copyOpeners(newAccount.book), enrolledImage: null, newAccount: newAccount };
}

/**
 * Uses the account that this session has created, or opened with its picture. An account that is
 * only saved on the device needs its picture first.
 */
function chooseFromPendingAccount(vault: VaultSession, ids: readonly string[]): ChosenOpeners {
  const firstAccount = vault.adoptedAccount?.documents;
  if (firstAccount === undefined) throw new PortalError("opener_needed");
  return { ...chooseFromNewAccount(firstAccount), openers: selectFromBook(firstAccount.book, ids) };
}

/**
 * Presents the picture as an opener of the account.
 * @throws PortalError `show_opener_first` if the picture is not an opener
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
      : error; // an image without a passphrase was given one
  }
}

/**
 * Returns all openers if `ids` is empty.
 * @throws PortalError `opener_needed` if no chosen opener is an image, or an id is unknown
 */
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
