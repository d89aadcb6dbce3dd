import { isPortalError, PortalError } from "@relicario/shared/errors";

import { openBookInner, type Book, type BookOpener } from "../seal/book.ts";
import type { FirstAccount } from "../device/pending-account.ts";
import { wipe, type Bytes } from "../seal/bytes.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { beginAccount } from "./begin-account.ts";
import { addImageToBook, collectKnownSketches, enrol } from "./enrol-image.ts";
import type { EnrolledImage } from "../keyring/build-keyring-change.ts";
import { presentOpener } from "./open-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { requireVerifiedOpeners } from "../keyring/verified-openers.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import { readPictureBytes } from "./read-picture.ts";
import { requireImagePassphrase, nonEmptyPassphrase } from "./recognise-image.ts";
import type { Protection, PresentedPicture } from "../rpc/presented-opener.ts";

/** Who will be able to open a secret, and what the keyring change must bring for it. */
export interface ChosenOpeners {
  readonly openers: readonly Pick<BookOpener, "id" | "recipient">[];
  /** An image that becomes an opener; null when every opener stands in the book already. */
  readonly enrolledImage: EnrolledImage | null;
  /** The account that begins with it; null when there is one. */
  readonly firstAccount: FirstAccount | null;
}

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
 * @throws PortalError `opener_needed`, `show_opener_first`, and those of {@link enrol}.
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
    const account = await beginAccount(vault, protection, picture, options);
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
