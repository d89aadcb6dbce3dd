import { fromB64u, type Keyring } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { deriveTitlesKeys, isSameAccount, type AccountKey, type TitlesKeys } from "../seal/account-key.ts";
import { openSlot, type ShownOpener } from "../seal/opener.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { openKeyring, recall, remember, type KeyringView, type OpenedKeyring } from "./read-keyring.ts";
import { recogniseOpener, type RecognisedOpener } from "./recognise-opener.ts";
import type { Shown } from "../shown-image.ts";

/**
 * The account key by an opener that is shown now: slot, keys, keyring, helper of an image. Only
 * when all of it fits, the vault is unlocked and the account key is in its memory.
 *
 * @throws PortalError `own_key_changed`, `openers_changed`, `helper_changed`, `older_state`,
 *   `decryption_failed`.
 */
export async function openAccount(
  vault: VaultContext,
  keyring: Keyring,
  recognised: RecognisedOpener,
): Promise<OpenedKeyring> {
  const { opener, kind } = recognised;
  const slot = keyring.slots.find((one) => one.opener_id === opener.openerId && one.kind === kind);
  if (slot === undefined) throw new PortalError("decryption_failed");
  const accountKey = await openSlot(opener, { userId: vault.userId, keyEpoch: keyring.key_epoch }, fromB64u(slot.slot));
  const keys = await deriveTitlesKeys(accountKey);
  await refuseForeignKey(vault, keys);
  const opened = await openKeyring(vault, keys, accountKey, keyring);
  refuseForeignOpener(opened, recognised);
  hold(vault, keys, accountKey);
  await remember(vault, keyring, opened);
  return opened;
}

/**
 * An opener that is shown on an unlocked device. It brings the account key as well, where this
 * worker does not have it.
 */
export async function showOpener(
  vault: VaultContext,
  shown: Shown,
  view: KeyringView,
  options: ActOptions,
): Promise<ShownOpener> {
  return (await showRecognised(vault, shown, view, options)).opener;
}

/** The same, with what it was recognised by. */
export async function showRecognised(
  vault: VaultContext,
  shown: Shown,
  view: KeyringView,
  options: ActOptions,
): Promise<RecognisedOpener> {
  const recognised = await recogniseOpener(vault, shown, view, options);
  try {
    if (vault.accountKey === null) await openAccount(vault, view.keyring, recognised);
    else if (view.opened !== null) refuseForeignOpener(view.opened, recognised);
    return recognised;
  } catch (error) {
    recognised.opener.forget();
    throw error;
  }
}

function hold(vault: VaultContext, keys: TitlesKeys, accountKey: AccountKey): void {
  // Another act may be using the one that is held: the same key is never taken away under it.
  if (vault.accountKey !== null && vault.keys !== null && isSameAccount(vault.keys, keys)) accountKey.forget();
  else vault.accountKey = accountKey;
  vault.keys = keys;
}

/**
 * A device that holds an account takes another one only of a higher generation, by an opener shown
 * now.
 */
async function refuseForeignKey(vault: VaultContext, given: TitlesKeys): Promise<void> {
  const remembered = await recall(vault);
  const held =
    vault.keys ??
    (await vault.device.read()).titlesKeys ??
    (remembered === null ? null : { keyEpoch: remembered.keyEpoch, signingKey: fromB64u(remembered.signingKey) });
  if (held === null || isSameAccount(held, given)) return;
  if (given.keyEpoch <= held.keyEpoch) throw new PortalError("own_key_changed");
}

function refuseForeignOpener({ book }: OpenedKeyring, { opener, kind, helperSha256 }: RecognisedOpener): void {
  const standing = book.openers.some(
    (one) => one.id === opener.openerId && one.kind === kind && one.recipient === opener.recipient,
  );
  if (kind === "image") {
    const entry = book.images.find((one) => one.id === opener.openerId);
    if (entry?.helper_sha256 !== helperSha256) throw new PortalError("helper_changed");
    if (entry.status !== "opener") throw new PortalError("decryption_failed");
  }
  if (!standing) throw new PortalError("decryption_failed");
}
