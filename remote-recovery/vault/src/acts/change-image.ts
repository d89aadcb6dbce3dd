import { canonicalText, maxFileNameLength } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { openBookInner, type BookOpener } from "../seal/book.ts";
import { wipe } from "../seal/bytes.ts";
import type { ShownOpener } from "../seal/opener.ts";
import { text } from "../seal/text.ts";
import type { ShownPicture } from "../shown-image.ts";
import { check } from "../steps/check-request.ts";
import { bookWithImage, enrol, knownSketches, makeImage, type MadeImage } from "../steps/choose-openers.ts";
import { openAccount, showRecognised } from "../steps/open-account.ts";
import { pictureBytes } from "../steps/picture.ts";
import type { SignedChange } from "../steps/publish.ts";
import { readAccount, type AccountView } from "../steps/read-account.ts";
import {
  readKeyring,
  readUnopened,
  requireCheckedOpeners,
  type KeyringView,
  type OpenedKeyring,
} from "../steps/read-keyring.ts";
import { typedPassphrase } from "../steps/recognise-image.ts";
import type { Besides } from "../steps/signed-change.ts";
import { switchRows, type Switch } from "../steps/switch-rows.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { unlock } from "./unlock.ts";

const Named = z.object({ name: text(maxFileNameLength) });

/** What an image becomes: the same picture with another passphrase or none, or another picture. */
export interface NextImage {
  readonly shown: ShownPicture;
  readonly name: string;
}

/**
 * Another image in the place of one: a new root, over the sketch that there is where the picture is
 * the same, so that its copies go on to open. Tickets of what the image opens are sealed anew,
 * those of former versions too, and contents that stand in a row take another identity: one keyring
 * change switches to all of it, book, slot and helper. Copies made before stay openable by what
 * opened them.
 *
 * @param shown the image as it is now
 * @throws PortalError `opener_needed` for what is no image, `picture_resembles_another` for a
 *   picture that another opener has, `picture_needs_passphrase`, `picture_too_plain`,
 *   `validation_error` for its name; those of showing, of {@link switchRows} and of reading.
 */
export async function changeImage(
  vault: VaultContext,
  shown: ShownPicture,
  next: NextImage,
  options: ActOptions = {},
): Promise<{ readonly openerId: string }> {
  check(Named, { name: next.name });
  const { opener, view } = await showNow(vault, shown, options);
  try {
    return await vault.oneWriter(async () => {
      const made = await makeNext(vault, opener, view, next, options);
      try {
        await switchTo(vault, opener, made, options);
      } finally {
        made.opener.forget();
      }
      return { openerId: made.entry.id };
    });
  } finally {
    opener.forget();
  }
}

/** The image as an opener of the account, which it unlocks where that has to be. */
async function showNow(
  vault: VaultContext,
  shown: ShownPicture,
  options: ActOptions,
): Promise<{ readonly opener: ShownOpener; readonly view: KeyringView & { readonly opened: OpenedKeyring } }> {
  const known = vault.keys === null ? null : await readKeyring(vault, options.signal);
  const { opener, view } =
    known?.opened == null
      ? await unlock(vault, shown, options)
      : { ...(await showRecognised(vault, shown, known, options)), view: known };
  if (view.opened !== null) return { opener, view: { ...view, opened: view.opened } };
  opener.forget();
  throw new PortalError("no_keyring");
}

/**
 * Nothing is stored yet: an image that is left here is garbage, but for its sketch, which a new
 * picture has in common with the next try.
 */
async function makeNext(
  vault: VaultContext,
  before: ShownOpener,
  { opened }: { readonly opened: OpenedKeyring },
  { shown, name }: NextImage,
  options: ActOptions,
): Promise<MadeImage> {
  const { accountKey } = vault;
  if (accountKey === null) throw new PortalError("show_opener_first");
  await requireCheckedOpeners(vault, opened);
  const inner = await openBookInner(accountKey, vault.userId, opened.book);
  const known = (await knownSketches(vault, opened.book, inner)).map((one) =>
    one.opener?.id === before.openerId ? { ...one, opener: undefined } : one,
  );
  const picture = await pictureBytes(shown.picture);
  try {
    const image = await enrol(vault, picture, typedPassphrase(shown), known, options);
    if (image.kind === "opener") throw new PortalError("picture_resembles_another");
    return await makeImage(vault, accountKey, image, name);
  } finally {
    wipe(picture);
  }
}

async function switchTo(vault: VaultContext, before: ShownOpener, made: MadeImage, options: ActOptions): Promise<void> {
  const plan = async (_account: AccountView, { keys, book }: OpenedKeyring): Promise<Switch> => {
    const { accountKey } = vault;
    if (accountKey === null) throw new PortalError("show_opener_first");
    // it went elsewhere meanwhile
    if (!book.openers.some(({ id }) => id === before.openerId)) throw new PortalError("openers_changed");
    const openers = book.openers.map((one) => (one.id === before.openerId ? made.entry : one));
    const images = book.images.map((image) =>
      image.id === before.openerId ? { ...image, status: "removed" as const } : image,
    );
    const next = await bookWithImage(
      vault,
      accountKey,
      { ...book, images },
      await openBookInner(accountKey, vault.userId, book),
      openers,
      made,
    );
    const besides: Switch["besides"] = (shares) =>
      Promise.resolve<Besides>({
        documents: { book: next, ...(shares === null ? {} : { shares }) },
        slots: { set: [made.slot], remove: [before.openerId] },
        imageRecords: { set: [made.record], remove: [before.openerId] },
      });
    const wanted = (ids: readonly string[]): readonly BookOpener[] =>
      ids.includes(before.openerId) ? openers.filter(({ id }) => id === made.entry.id || ids.includes(id)) : [];
    return { how: { keys, shown: [before], wanted }, besides, confirm: (change) => confirmChange(vault, made, change) };
  };
  await switchRows(vault, plan, options);
}

/**
 * Reads the account by the new slot and the new image: book, state and list have to open, and the
 * slot before has to be gone. It is read to its end, whoever gives up.
 */
async function confirmChange(
  vault: VaultContext,
  { opener, helperSha256, slot }: MadeImage,
  { keyring }: SignedChange,
): Promise<void> {
  const served = await readUnopened(vault);
  const gone = keyring.slots?.remove ?? [];
  const isThere = served.slots.some((one) => canonicalText(one) === canonicalText(slot));
  if (!isThere || served.slots.some(({ opener_id: id }) => gone.includes(id)))
    throw new PortalError("publication_not_seen");
  const opened = await openAccount(vault, served, { opener, kind: "image", helperSha256 });
  await readAccount(vault, undefined, { keyring: served, opened });
}
