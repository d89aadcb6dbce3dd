import { fromBase64url, type Keyring } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { deriveMetadataKeys, hasSameAccountKey, type AccountKey, type MetadataKeys } from "../seal/account-key.ts";
import { deriveMark } from "../seal/mark.ts";
import { openSlot, type OpenerKeys, type RecognisedOpener } from "../seal/opener.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { openKeyring } from "../keyring/fetch-keyring.ts";
import type { KeyringView, OpenedKeyring } from "../session/keyring-views.ts";
import { recogniseOpener } from "./recognise-opener.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";

/**
 * Opens the account key with an opener, then verifies keys, keyring and the helper of an image.
 * Only then unlocks the vault and keeps the account key in memory.
 *
 * @param isVouched whether another device of the person has verified this account
 * @throws PortalError `own_key_changed`, `openers_changed`, `helper_changed`, `older_state`,
 *   `decryption_failed`, `mark_refused`, `cancelled`
 */
export async function openAccount(
  vault: VaultSession,
  keyring: Keyring,
  recognisedOpener: RecognisedOpener,
  isVouched = false,
): Promise<OpenedKeyring> {
  const { opener, kind } = recognisedOpener;
  const slot = keyring.slots.find((candidate) => candidate.opener_id === opener.openerId && candidate.kind === kind);
  if (slot === undefined) throw new PortalError("decryption_failed");
  const accountKey = await openSlot(
    opener,
    { userId: vault.userId, keyEpoch: keyring.key_epoch },
    fromBase64url(slot.slot),
  );
  try {
    const keys = await deriveMetadataKeys(accountKey);
    await assertSameAccount(vault, keys);
    const contents = await vault.withRejectedState(() => openKeyring(vault, keys, accountKey, keyring));
    assertOpenerInBook(contents.openedKeyring, recognisedOpener);
    if (!isVouched) await confirmUnknownAccount(vault, accountKey, recognisedOpener.isPlain);
    await vault.unlock(keyring, contents, accountKey);
    return contents.openedKeyring;
  } catch (error) {
    accountKey.wipe();
    throw error;
  }
}

/**
 * Recognises an opener presented on an unlocked device. Also obtains the account key if the session
 * has none.
 */
export async function presentOpener(
  vault: VaultSession,
  presentedOpener: PresentedOpener,
  view: KeyringView,
  options: OperationOptions,
): Promise<OpenerKeys> {
  return (await recognisePresented(vault, presentedOpener, view, options)).opener;
}

/** Like {@link presentOpener}; also returns the opener's kind and helper digest. */
export async function recognisePresented(
  vault: VaultSession,
  presentedOpener: PresentedOpener,
  view: KeyringView,
  options: OperationOptions,
): Promise<RecognisedOpener> {
  const recognisedOpener = await recogniseOpener(vault, presentedOpener, view, options);
  try {
    if (vault.accountKey === null) await openAccount(vault, view.keyring, recognisedOpener);
    else if (view.openedKeyring !== null) assertOpenerInBook(view.openedKeyring, recognisedOpener);
    await vault.keepOpener(recognisedOpener);
    return recognisedOpener;
  } catch (error) {
    recognisedOpener.opener.wipe();
    throw error;
  }
}

/**
 * Returns a copy of the opener that is kept open.
 *
 * @throws PortalError `show_opener_first` if none is kept, or the book no longer has it
 */
export function copyKeptOpener(vault: VaultSession, { openedKeyring }: KeyringView): OpenerKeys {
  const kept = vault.accountKey === null || openedKeyring === null ? null : vault.copyKeptOpener();
  if (kept === null || openedKeyring === null) throw new PortalError("show_opener_first");
  try {
    assertOpenerInBook(openedKeyring, kept);
    return kept.opener;
  } catch (cause) {
    kept.opener.wipe();
    vault.releaseKeptOpener();
    throw new PortalError("show_opener_first", { cause });
  }
}

/**
 * Refuses another account key on a device that knows the account, unless the key epoch is higher. A
 * higher epoch is attested by the presented opener.
 */
async function assertSameAccount(vault: VaultSession, offeredKeys: MetadataKeys): Promise<void> {
  const checkpoint = await vault.loadCheckpoint();
  const knownKeys =
    vault.keys ??
    (await vault.device.read()).metadataKeys ??
    (checkpoint === null
      ? null
      : {
          keyEpoch: checkpoint.keyEpoch,
          signingKey: fromBase64url(checkpoint.signingKey),
          authorKey: fromBase64url(checkpoint.authorKey),
        });
  if (knownKeys === null || hasSameAccountKey(knownKeys, offeredKeys)) return;
  if (offeredKeys.keyEpoch <= knownKeys.keyEpoch) throw new PortalError("own_key_changed");
}

/**
 * On a device that remembers nothing, the service alone says which account is the person's. One
 * that has the picture can have made an account for it.
 *
 * @throws PortalError `mark_refused`, `cancelled`
 */
async function confirmUnknownAccount(vault: VaultSession, accountKey: AccountKey, isPlain: boolean): Promise<void> {
  if (vault.keys !== null || (await vault.loadCheckpoint()) !== null) return;
  if (!(await vault.confirmMark({ mark: deriveMark(accountKey), isPlain }))) throw new PortalError("mark_refused");
  vault.acknowledgeMark();
}

function assertOpenerInBook({ book }: OpenedKeyring, { opener, kind, helperSha256 }: RecognisedOpener): void {
  const isOpenerInBook = book.openers.some(
    (entry) => entry.id === opener.openerId && entry.kind === kind && entry.recipient === opener.recipient,
  );
  if (kind === "image") {
    const entry = book.images.find((image) => image.id === opener.openerId);
    if (entry?.helper_sha256 !== helperSha256) throw new PortalError("helper_changed");
    if (entry.status !== "opener") throw new PortalError("decryption_failed");
  }
  if (!isOpenerInBook) throw new PortalError("decryption_failed");
}
