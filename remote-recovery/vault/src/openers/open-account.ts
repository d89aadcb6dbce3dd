import { fromBase64url, type Keyring } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { deriveMetadataKeys, hasSameAccountKey, type MetadataKeys } from "../seal/account-key.ts";
import { openSlot, type OpenerKeys } from "../seal/opener.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { openKeyring } from "../keyring/fetch-keyring.ts";
import type { KeyringView, OpenedKeyring } from "../session/keyring-views.ts";
import { recogniseOpener, type RecognisedOpener } from "./recognise-opener.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";

/**
 * The account key by an opener that is shown now: slot, keys, keyring, helper of an image. Only
 * when all of it fits, the vault is unlocked and the account key is in its memory.
 *
 * @throws PortalError `own_key_changed`, `openers_changed`, `helper_changed`, `older_state`,
 *   `decryption_failed`.
 */
export async function openAccount(
  vault: VaultSession,
  keyring: Keyring,
  recognised: RecognisedOpener,
): Promise<OpenedKeyring> {
  const { opener, kind } = recognised;
  const slot = keyring.slots.find((candidate) => candidate.opener_id === opener.openerId && candidate.kind === kind);
  if (slot === undefined) throw new PortalError("decryption_failed");
  const accountKey = await openSlot(
    opener,
    { userId: vault.userId, keyEpoch: keyring.key_epoch },
    fromBase64url(slot.slot),
  );
  const keys = await deriveMetadataKeys(accountKey);
  await assertSameAccount(vault, keys);
  const opening = await vault.withRejectedState(() => openKeyring(vault, keys, accountKey, keyring));
  assertOpenerInBook(opening.openedKeyring, recognised);
  await vault.unlock(keyring, opening, accountKey);
  return opening.openedKeyring;
}

/**
 * An opener that is shown on an unlocked device. It brings the account key as well, where this
 * worker does not have it.
 */
export async function presentOpener(
  vault: VaultSession,
  presentedOpener: PresentedOpener,
  view: KeyringView,
  options: OperationOptions,
): Promise<OpenerKeys> {
  return (await recognisePresented(vault, presentedOpener, view, options)).opener;
}

/** The same, with what it was recognised by. */
export async function recognisePresented(
  vault: VaultSession,
  presentedOpener: PresentedOpener,
  view: KeyringView,
  options: OperationOptions,
): Promise<RecognisedOpener> {
  const recognised = await recogniseOpener(vault, presentedOpener, view, options);
  try {
    if (vault.accountKey === null) await openAccount(vault, view.keyring, recognised);
    else if (view.openedKeyring !== null) assertOpenerInBook(view.openedKeyring, recognised);
    return recognised;
  } catch (error) {
    recognised.opener.wipe();
    throw error;
  }
}

/**
 * A device that holds an account takes another one only of a higher generation, by an opener shown
 * now.
 */
async function assertSameAccount(vault: VaultSession, offered: MetadataKeys): Promise<void> {
  const checkpoint = await vault.loadCheckpoint();
  const knownKeys =
    vault.keys ??
    (await vault.device.read()).metadataKeys ??
    (checkpoint === null ? null : { keyEpoch: checkpoint.keyEpoch, signingKey: fromBase64url(checkpoint.signingKey) });
  if (knownKeys === null || hasSameAccountKey(knownKeys, offered)) return;
  if (offered.keyEpoch <= knownKeys.keyEpoch) throw new PortalError("own_key_changed");
}

function assertOpenerInBook({ book }: OpenedKeyring, { opener, kind, helperSha256 }: RecognisedOpener): void {
  const isInBook = book.openers.some(
    (entry) => entry.id === opener.openerId && entry.kind === kind && entry.recipient === opener.recipient,
  );
  if (kind === "image") {
    const entry = book.images.find((image) => image.id === opener.openerId);
    if (entry?.helper_sha256 !== helperSha256) throw new PortalError("helper_changed");
    if (entry.status !== "opener") throw new PortalError("decryption_failed");
  }
  if (!isInBook) throw new PortalError("decryption_failed");
}
