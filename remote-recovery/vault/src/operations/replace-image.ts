import { stringifyCanonical, maxFileNameLength } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { openBookInner, type BookOpener } from "../seal/book.ts";
import { wipe } from "../seal/bytes.ts";
import type { OpenerKeys } from "../seal/opener.ts";
import { nonEmptyText } from "../seal/text.ts";
import type { PresentedPicture } from "../rpc/presented-opener.ts";
import { validate } from "../secrets/validate-request.ts";
import { bookWithImage, enrol, collectKnownSketches, createImage, type CreatedImage } from "../openers/enrol-image.ts";
import { openAccount, recognisePresented } from "../openers/open-account.ts";
import { readPictureBytes } from "../openers/read-picture.ts";
import type { SignedChange, KeyringView, OpenedKeyring } from "../session/keyring-views.ts";
import { readAccount, type AccountView } from "../keyring/read-account.ts";
import { refreshKeyring, readUnopenedKeyring } from "../keyring/refresh-keyring.ts";
import { requireVerifiedOpeners } from "../keyring/verified-openers.ts";
import { nonEmptyPassphrase } from "../openers/recognise-image.ts";
import type { ChangeParts } from "../keyring/build-keyring-change.ts";
import { resealAllRows, type ResealPlan } from "../secrets/reseal-all-rows.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { unlock } from "../openers/unlock.ts";

const NameInput = z.object({ name: nonEmptyText(maxFileNameLength) });

/** What an image becomes: the same picture with another passphrase or none, or another picture. */
export interface ImageReplacement {
  readonly presentedPicture: PresentedPicture;
  readonly name: string;
}

/**
 * Another image in the place of one: a new root, over the sketch that there is where the picture is
 * the same, so that its copies go on to open. Tickets of what the image opens are sealed anew,
 * those of former versions too, and contents that stand in a row take another identity: one keyring
 * change switches to all of it, book, slot and helper. Copies made before stay openable by what
 * opened them.
 *
 * @param presentedPicture the image as it is now
 * @throws PortalError `opener_needed` for what is no image, `picture_resembles_another` for a
 *   picture that another opener has, `picture_needs_passphrase`, `picture_too_plain`,
 *   `validation_error` for its name; those of showing, of {@link resealAllRows} and of reading.
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
      const created = await createReplacement(vault, opener, view, replacement, options);
      try {
        await switchToImage(vault, opener, created, options);
      } finally {
        created.opener.wipe();
      }
      return { openerId: created.entry.id };
    });
  } finally {
    opener.wipe();
  }
}

/** The image as an opener of the account, which it unlocks where that has to be. */
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
 * Nothing is stored yet: an image that is left here is garbage, but for its sketch, which a new
 * picture has in common with the next try.
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
  await requireVerifiedOpeners(vault, openedKeyring);
  const inner = await openBookInner(accountKey, vault.userId, openedKeyring.book);
  const knownSketchList = (await collectKnownSketches(vault, openedKeyring.book, inner)).map((knownSketch) =>
    knownSketch.opener?.id === replacedOpener.openerId ? { ...knownSketch, opener: undefined } : knownSketch,
  );
  const picture = await readPictureBytes(presentedPicture.picture);
  try {
    const enrolment = await enrol(vault, picture, nonEmptyPassphrase(presentedPicture), knownSketchList, options);
    if (enrolment.kind === "opener") throw new PortalError("picture_resembles_another");
    return await createImage(vault, accountKey, enrolment, name);
  } finally {
    wipe(picture);
  }
}

async function switchToImage(
  vault: VaultSession,
  replacedOpener: OpenerKeys,
  created: CreatedImage,
  options: OperationOptions,
): Promise<void> {
  const createPlan = async (_account: AccountView, { keys, book }: OpenedKeyring): Promise<ResealPlan> => {
    const { accountKey } = vault;
    if (accountKey === null) throw new PortalError("show_opener_first");
    // it went elsewhere meanwhile
    if (!book.openers.some(({ id }) => id === replacedOpener.openerId)) throw new PortalError("openers_changed");
    const openers = book.openers.map((bookOpener) =>
      bookOpener.id === replacedOpener.openerId ? created.entry : bookOpener,
    );
    const images = book.images.map((image) =>
      image.id === replacedOpener.openerId ? { ...image, status: "removed" as const } : image,
    );
    const nextBook = await bookWithImage(
      vault,
      accountKey,
      { ...book, images },
      await openBookInner(accountKey, vault.userId, book),
      openers,
      created,
    );
    const buildChangeParts: ResealPlan["buildChangeParts"] = (shares) =>
      Promise.resolve<ChangeParts>({
        documents: { book: nextBook, ...(shares === null ? {} : { shares }) },
        slots: { set: [created.slot], remove: [replacedOpener.openerId] },
        imageRecords: { set: [created.record], remove: [replacedOpener.openerId] },
      });
    const selectOpeners = (ids: readonly string[]): readonly BookOpener[] =>
      ids.includes(replacedOpener.openerId)
        ? openers.filter(({ id }) => id === created.entry.id || ids.includes(id))
        : [];
    return {
      params: { keys, openers: [replacedOpener], selectOpeners },
      buildChangeParts,
      confirm: (change) => confirmReplacement(vault, created, change),
    };
  };
  await resealAllRows(vault, createPlan, options);
}

/**
 * Reads the account by the new slot and the new image: book, state and list have to open, and the
 * slot before has to be gone. It is read to its end, whoever gives up.
 */
async function confirmReplacement(
  vault: VaultSession,
  { opener, helperSha256, slot }: CreatedImage,
  { keyring }: SignedChange,
): Promise<void> {
  const servedKeyring = await readUnopenedKeyring(vault);
  const removedIds = keyring.slots?.remove ?? [];
  const isSlotServed = servedKeyring.slots.some(
    (servedSlot) => stringifyCanonical(servedSlot) === stringifyCanonical(slot),
  );
  if (!isSlotServed || servedKeyring.slots.some(({ opener_id: id }) => removedIds.includes(id)))
    throw new PortalError("publication_not_seen");
  const openedKeyring = await openAccount(vault, servedKeyring, { opener, kind: "image", helperSha256 });
  await readAccount(vault, undefined, { keyring: servedKeyring, openedKeyring });
}
