import { stringifyCanonical, maxFileNameLength } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { openBookInner, type BookOpener } from "../seal/book.ts";
import { hasSameAccountKey, type MetadataKeys } from "../seal/account-key.ts";
import { wipe } from "../seal/bytes.ts";
import type { OpenerKeys } from "../seal/opener.ts";
import { nonEmptyText } from "../seal/text.ts";
import type { PresentedPicture } from "../rpc/presented-opener.ts";
import { validate } from "../secrets/validate-request.ts";
import {
  buildBookWithImage,
  enrol,
  collectKnownSketches,
  createImage,
  type CreatedImage,
} from "../openers/enrol-image.ts";
import { openAccount, recognisePresented } from "../openers/open-account.ts";
import { readPictureBytes } from "../openers/read-picture.ts";
import type { SignedChange, KeyringView, OpenedKeyring } from "../session/keyring-views.ts";
import { readAccount, type AccountView } from "../keyring/read-account.ts";
import { refreshKeyring, readUnopenedKeyring } from "../keyring/refresh-keyring.ts";
import { requireVerifiedInner } from "../keyring/verified-inner.ts";
import { nonEmptyPassphrase } from "../openers/recognise-image.ts";
import type { ChangeParts } from "../keyring/build-keyring-change.ts";
import { resealAllRows, type ResealPlan } from "../secrets/reseal-all-rows.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { unlock } from "../openers/unlock.ts";

const NameInput = z.object({ name: nonEmptyText(maxFileNameLength) });

/** The same picture with another passphrase or none, or another picture. */
export interface ImageReplacement {
  readonly presentedPicture: PresentedPicture;
  readonly name: string;
}

/**
 * Replaces an image opener by one with a new root key. The same picture keeps its sketch, so that
 * its copies still open. Re-seals the tickets of everything that the image opens, including former
 * versions; contents stored in rows get a new content identity. One keyring change switches to all
 * of this, with book, slot and helper. Earlier kits and exports still open with the old image.
 *
 * @param presentedPicture the current image
 * @throws PortalError `opener_needed` if it is not an image, `picture_resembles_another` if the new
 *   picture belongs to another opener, `picture_needs_passphrase`, `picture_too_plain`,
 *   `validation_error` for the name; errors of presenting, of {@link resealAllRows} and of reading
 */
export async function replaceImage(
  vault: VaultSession,
  presentedPicture: PresentedPicture,
  replacement: ImageReplacement,
  options: OperationOptions = {},
): Promise<{ readonly openerId: string }> {
  validate(NameInput, { name: replacement.name });
  const { opener, view } = await presentCurrentImage(vault, presentedPicture, options);
  try {
    return await vault.runExclusive(async () => {
      const newImage = await createReplacement(vault, opener, view, replacement, options);
      try {
        await switchToImage(vault, opener, view.openedKeyring.keys, newImage, options);
      } finally {
        newImage.opener.wipe();
      }
      return { openerId: newImage.entry.id };
    });
  } finally {
    opener.wipe();
  }
}

/** Presents the current image, which unlocks a locked device first. */
async function presentCurrentImage(
  vault: VaultSession,
  presentedPicture: PresentedPicture,
  options: OperationOptions,
): Promise<{ readonly opener: OpenerKeys; readonly view: KeyringView & { readonly openedKeyring: OpenedKeyring } }> {
  const currentView = vault.keys === null ? null : await refreshKeyring(vault, options.signal);
  const { opener, view } =
    currentView?.openedKeyring == null
      ? await unlock(vault, presentedPicture, options)
      : { ...(await recognisePresented(vault, presentedPicture, currentView, options)), view: currentView };
  if (view.openedKeyring !== null) return { opener, view: { ...view, openedKeyring: view.openedKeyring } };
  opener.wipe();
  throw new PortalError("no_keyring");
}

/**
 * Creates the new image without publishing it. For the next attempt, keeps only the pending sketch
 * of a new picture.
 */
async function createReplacement(
  vault: VaultSession,
  replacedOpener: OpenerKeys,
  { openedKeyring }: { readonly openedKeyring: OpenedKeyring },
  { presentedPicture, name }: ImageReplacement,
  options: OperationOptions,
): Promise<CreatedImage> {
  const { accountKey } = vault;
  if (accountKey === null) throw new PortalError("show_opener_first");
  await requireVerifiedInner(vault, openedKeyring);
  const inner = await openBookInner(accountKey, vault.userId, openedKeyring.book);
  const knownSketches = (await collectKnownSketches(vault, openedKeyring.book, inner)).map((knownSketch) =>
    knownSketch.opener?.id === replacedOpener.openerId ? { ...knownSketch, opener: undefined } : knownSketch,
  );
  const picture = await readPictureBytes(presentedPicture.picture);
  try {
    const enrolment = await enrol(vault, picture, nonEmptyPassphrase(presentedPicture), knownSketches, options);
    if (enrolment.kind === "opener") throw new PortalError("picture_resembles_another");
    return await createImage(vault, accountKey, enrolment, name);
  } finally {
    wipe(picture);
  }
}

async function switchToImage(
  vault: VaultSession,
  replacedOpener: OpenerKeys,
  slotKeys: MetadataKeys,
  newImage: CreatedImage,
  options: OperationOptions,
): Promise<void> {
  const createPlan = async (_account: AccountView, { keys, book }: OpenedKeyring): Promise<ResealPlan> => {
    const accountKey = vault.requireAccountKeyOf(keys);
    // the new image's slot contains the account key from before a rotation
    if (!hasSameAccountKey(slotKeys, keys)) throw new PortalError("openers_changed");
    // another device has removed or replaced the opener
    if (!book.openers.some(({ id }) => id === replacedOpener.openerId)) throw new PortalError("openers_changed");
    const openers = book.openers.map((bookOpener) =>
      bookOpener.id === replacedOpener.openerId ? newImage.entry : bookOpener,
    );
    const images = book.images.map((image) =>
      image.id === replacedOpener.openerId ? { ...image, status: "removed" as const } : image,
    );
    const nextBook = await buildBookWithImage(
      vault,
      accountKey,
      { ...book, images },
      await openBookInner(accountKey, vault.userId, book),
      openers,
      newImage,
    );
    const buildChangeParts: ResealPlan["buildChangeParts"] = (shares) =>
      Promise.resolve<ChangeParts>({
        documents: { book: nextBook, ...(shares === null ? {} : { shares }) },
        slots: { set: [newImage.slot], remove: [replacedOpener.openerId] },
        imageRecords: { set: [newImage.record], remove: [replacedOpener.openerId] },
      });
    const selectOpeners = (ids: readonly string[]): readonly BookOpener[] =>
      ids.includes(replacedOpener.openerId)
        ? openers.filter(({ id }) => id === newImage.entry.id || ids.includes(id))
        : [];
    return {
      params: { keys, accountKey, openers: [replacedOpener], selectOpeners },
      buildChangeParts,
      confirm: (change) => confirmReplacement(vault, newImage, change),
    };
  };
  await resealAllRows(vault, createPlan, options);
}

/**
 * Reads the account with the new slot and image. Book, state and list must open, and the old slot
 * must be gone. The caller's signal does not cancel this.
 */
async function confirmReplacement(
  vault: VaultSession,
  { opener, helperSha256, slot }: CreatedImage,
  { keyringChange }: SignedChange,
): Promise<void> {
  const servedKeyring = await readUnopenedKeyring(vault);
  const removedIds = keyringChange.slots?.remove ?? [];
  const isSlotServed = servedKeyring.slots.some(
    (servedSlot) => stringifyCanonical(servedSlot) === stringifyCanonical(slot),
  );
  if (!isSlotServed || servedKeyring.slots.some(({ opener_id: id }) => removedIds.includes(id)))
    throw new PortalError("publication_not_seen");
  const openedKeyring = await openAccount(vault, servedKeyring, {
    opener,
    kind: "image",
    helperSha256,
    isPlain: false, // this device knows the account
  });
  await readAccount(vault, undefined, { keyring: servedKeyring, openedKeyring });
}
