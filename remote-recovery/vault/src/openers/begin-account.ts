import { fromBase64url } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { AccountKey, deriveMetadataKeys } from "../seal/account-key.ts";
import { createKeyStatement } from "../seal/account-signatures.ts";
import { createEmptyBook, createEmptyBookInner, sketchToB64u } from "../seal/book.ts";
import {
  type UnpublishedAccount,
  savePendingAccount,
  loadPendingSketches,
  loadPendingAccount,
} from "../device/pending-account.ts";
import { wipe, type Bytes } from "../seal/bytes.ts";
import { parseHelper, parseSketch } from "../seal/helper.ts";
import { openSlot } from "../seal/opener.ts";
import { createEmptyShares } from "../seal/shares.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { addImageToBook, enrol } from "./enrol-image.ts";
import { toEngineOptions, readPictureBytes } from "./read-picture.ts";
import { recogniseAmong, nonEmptyPassphrase } from "./recognise-image.ts";
import type { Protection, PresentedPicture } from "../rpc/presented-opener.ts";

/** Key epoch of every account that begins. */
const initialKeyEpoch = 1;

type ProtectionByPicture = Protection & { readonly kind: "picture" };

/**
 * The account that waits on this device for this picture, or a new one. Stored before anything is
 * sent; the session takes it by `adopt`.
 *
 * @throws PortalError those of {@link enrol}.
 */
export async function beginAccount(
  vault: VaultSession,
  protection: ProtectionByPicture,
  picture: Bytes,
  options: OperationOptions,
): Promise<UnpublishedAccount> {
  return (
    (await openPendingAccount(vault, protection.picture, picture, options)) ??
    (await createAccount(vault, protection, picture, initialKeyEpoch, options))
  );
}

/**
 * What an account that is started anew begins with, by a picture that becomes its one opener. It is
 * stored as pending; the keys of this worker stay what they are until it is published.
 *
 * @throws PortalError those of {@link enrol}.
 */
export async function prepareAccountReset(
  vault: VaultSession,
  protection: ProtectionByPicture,
  keyEpoch: number,
  options: OperationOptions,
): Promise<UnpublishedAccount> {
  const picture = await readPictureBytes(protection.picture.picture);
  try {
    const pending = await loadPendingAccount(vault.device);
    const existing =
      pending?.statement.key_epoch === keyEpoch
        ? await openPendingAccount(vault, protection.picture, picture, options)
        : null;
    return existing ?? (await createAccount(vault, protection, picture, keyEpoch, options));
  } finally {
    wipe(picture);
  }
}

/**
 * The account that waits on this device, when this is its picture. It is never made twice.
 *
 * @throws PortalError `not_this_picture_or_passphrase`, `picture_has_no_passphrase` for its picture
 *   with another passphrase.
 */
async function openPendingAccount(
  vault: VaultSession,
  presentedPicture: PresentedPicture,
  picture: Bytes,
  options: OperationOptions,
): Promise<UnpublishedAccount | null> {
  const pendingAccount = vault.pending ?? (await loadPendingAccount(vault.device));
  if (pendingAccount === null) return null;
  const image = await recogniseAmong(
    vault,
    presentedPicture,
    [pendingAccount.record],
    pendingAccount.book,
    options,
  ).catch((error: unknown) => {
    if (isPortalError(error, "not_this_picture", "not_this_picture_or_passphrase", "plain_helper_refused")) return null;
    throw error;
  });
  if (image === null) {
    const match = await vault.engine.recover(
      picture,
      [parseSketch(fromBase64url(pendingAccount.sketch))],
      toEngineOptions(options),
    );
    if (match.outcome !== "recovered") return null;
    wipe(match.imageSecretBytes);
    const { encrypted } = parseHelper(fromBase64url(pendingAccount.record.helper));
    throw new PortalError(encrypted ? "not_this_picture_or_passphrase" : "picture_has_no_passphrase");
  }
  try {
    const accountKey = await openSlot(
      image.opener,
      { userId: vault.userId, keyEpoch: pendingAccount.statement.key_epoch },
      fromBase64url(pendingAccount.slot.slot),
    );
    return { accountKey, firstAccount: { ...pendingAccount, keys: await deriveMetadataKeys(accountKey) } };
  } finally {
    image.opener.wipe();
  }
}

/** A new account with this picture, stored before anything is sent. `storage_full`. */
async function createAccount(
  vault: VaultSession,
  protection: ProtectionByPicture,
  picture: Bytes,
  keyEpoch: number,
  options: OperationOptions,
): Promise<UnpublishedAccount> {
  const { userId, device } = vault;
  const enrolment = await enrol(
    vault,
    picture,
    nonEmptyPassphrase(protection.picture),
    (await loadPendingSketches(device)).map((sketch) => ({ sketch, opener: undefined })),
    options,
  );
  if (enrolment.kind === "opener") throw new TypeError("there is no opener yet");
  const accountKey = AccountKey.generate(keyEpoch);
  const keys = await deriveMetadataKeys(accountKey);
  const { book, record, slot } = await addImageToBook(
    vault,
    accountKey,
    enrolment,
    protection.name,
    createEmptyBook(),
    createEmptyBookInner(),
  );
  const firstAccount = {
    keys,
    book,
    shares: await createEmptyShares(accountKey, userId),
    statement: await createKeyStatement(keys, userId),
    record,
    slot,
    sketch: sketchToB64u(enrolment.sketch),
  };
  await savePendingAccount(device, firstAccount);
  return { accountKey, firstAccount };
}
