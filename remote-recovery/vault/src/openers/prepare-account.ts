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

const initialKeyEpoch = 1;

type ProtectionByPicture = Protection & { readonly kind: "picture" };

/**
 * Opens the account that is pending on this device with this picture, or creates one and saves it
 * on the device before anything is sent. The caller passes the account to the session's `adopt`.
 *
 * @throws PortalError those of {@link enrol}
 */
export async function prepareAccount(
  vault: VaultSession,
  protection: ProtectionByPicture,
  pictureBytes: Bytes,
  options: OperationOptions,
): Promise<UnpublishedAccount> {
  return (
    (await openPendingAccount(vault, protection.picture, pictureBytes, options)) ??
    (await createAccount(vault, protection, pictureBytes, initialKeyEpoch, options))
  );
}

/**
 * Prepares a reset account whose only opener is this picture, and saves it as pending. The session
 * keeps its keys until the account is published.
 *
 * @throws PortalError those of {@link enrol}
 */
export async function prepareAccountReset(
  vault: VaultSession,
  protection: ProtectionByPicture,
  keyEpoch: number,
  options: OperationOptions,
): Promise<UnpublishedAccount> {
  const pictureBytes = await readPictureBytes(protection.picture.picture);
  try {
    const pending = await loadPendingAccount(vault.device);
    const existing =
      pending?.statement.key_epoch === keyEpoch
        ? await openPendingAccount(vault, protection.picture, pictureBytes, options)
        : null;
    return existing ?? (await createAccount(vault, protection, pictureBytes, keyEpoch, options));
  } finally {
    wipe(pictureBytes);
  }
}

/**
 * Opens the pending account. Null if there is none, or if this is another picture.
 *
 * @throws PortalError `not_this_picture_or_passphrase`, `picture_has_no_passphrase` for the right
 *   picture with a wrong passphrase
 */
async function openPendingAccount(
  vault: VaultSession,
  presentedPicture: PresentedPicture,
  pictureBytes: Bytes,
  options: OperationOptions,
): Promise<UnpublishedAccount | null> {
  const pendingAccount = vault.adoptedAccount?.documents ?? (await loadPendingAccount(vault.device));
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
      pictureBytes,
      [parseSketch(fromBase64url(pendingAccount.sketch))],
      toEngineOptions(options),
    );
    if (match.outcome !== "recovered") return null;
    wipe(match.imageSecretBytes);
    const { requiresPassphrase } = parseHelper(fromBase64url(pendingAccount.record.helper));
    throw new PortalError(requiresPassphrase ? "not_this_picture_or_passphrase" : "picture_has_no_passphrase");
  }
  try {
    const accountKey = await openSlot(
      image.opener,
      { userId: vault.userId, keyEpoch: pendingAccount.statement.key_epoch },
      fromBase64url(pendingAccount.slot.slot),
    );
    return { accountKey, documents: { ...pendingAccount, keys: await deriveMetadataKeys(accountKey) } };
  } finally {
    image.opener.wipe();
  }
}

/** Creates an account, and saves it before anything is sent. Rejects with `storage_full`. */
async function createAccount(
  vault: VaultSession,
  protection: ProtectionByPicture,
  pictureBytes: Bytes,
  keyEpoch: number,
  options: OperationOptions,
): Promise<UnpublishedAccount> {
  const { userId, device } = vault;
  const enrolment = await enrol(
    vault,
    pictureBytes,
    nonEmptyPassphrase(protection.picture),
    (await loadPendingSketches(device)).map((sketch) => ({ sketch, opener: undefined })),
    options,
  );
  if (enrolment.kind === "opener") throw new TypeError("a pending sketch cannot have an opener");
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
  const documents = {
    keys,
    book,
    shares: await createEmptyShares(accountKey, userId),
    statement: await createKeyStatement(accountKey, userId),
    record,
    slot,
    sketch: sketchToB64u(enrolment.sketch),
  };
  await savePendingAccount(device, documents);
  return { accountKey, documents: documents };
}
