import { fromB64u, type Keyring } from "@relicario/shared/api";
import type { DeviceKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { deriveAccountKeys, importAccountKey, isSameAccountKey, unwrapAccountKey, type AccountKeys } from "../seal/account-key.ts";
import { openSlot } from "../seal/opener.ts";
import { requireKeys, type ActOptions, type VaultContext } from "../vault-context.ts";
import { openKeyring, readKeyring, remember, type KeyringView, type OpenedKeyring } from "../steps/read-keyring.ts";
import { recogniseImage, type RecognisedImage } from "../steps/recognise-image.ts";
import type { ShownPicture } from "../shown-image.ts";

/**
 * [Note: Unlock sequence]
 * 1. Keyring, checked against what this device remembers; image records.
 * 2. The picture finds its helper, the helper gives the image root, the root gives the opener.
 * 3. The opener's slot: header, mac, user, opener and epoch, then the account key in it.
 * 4. A device that holds an account key takes no other one of the same generation.
 * 5. The key must open the state, book and shares that were given, and be the one of the key statement.
 * 6. The helper must have the book's digest, the opener must stand in the book.
 * 7. Only then the vault is unlocked, and the state remembered.
 *
 * @returns the recognised image, for the one act that it was shown for (call `opener.forget()`), and the keyring as it was
 *   read and opened, so that the act need not read it again.
 * @throws PortalError `no_keyring`, those of {@link recogniseImage}, `own_key_changed`, `helper_changed`, `decryption_failed`.
 */
export async function unlock(vault: VaultContext, shown: ShownPicture, options: ActOptions = {}): Promise<RecognisedImage & { readonly view: KeyringView }> {
  const view = await readKeyring(vault, options.signal);
  if (view === null) throw new PortalError("no_keyring");
  const image = await recogniseImage(vault, shown, view.opened?.book ?? null, options);
  try {
    const opened = await unlockWith(vault, view.keyring, image, options);
    return { ...image, view: { keyring: view.keyring, opened } };
  } catch (error) {
    image.opener.forget();
    throw error;
  }
}

/** Steps 3 to 7. */
async function unlockWith(vault: VaultContext, keyring: Keyring, image: RecognisedImage, options: ActOptions): Promise<OpenedKeyring> {
  const { opener } = image;
  options.onProgress?.({ phase: "opening", done: 0, total: 1 });
  const slot = keyring.slots.find((one) => one.opener_id === opener.openerId && one.kind === "image");
  if (slot === undefined) throw new PortalError("decryption_failed");
  const bytes = await openSlot(opener, { userId: vault.userId, keyEpoch: keyring.key_epoch }, fromB64u(slot.slot));
  const keys = await deriveAccountKeys(await importAccountKey(bytes, keyring.key_epoch));
  refuseForeignKey(await heldKeys(vault), keys);
  const opened = await openKeyring(vault.userId, keys, keyring);
  refuseForeignHelper(opened, image);

  const { kind } = await vault.device.read();
  vault.keys = keys;
  await remember(vault, keyring, opened.state);
  if (kind === "own") await keepAccountKey(vault, keys);
  vault.setState({ status: "unlocked", device: kind });
  options.onProgress?.({ phase: "opening", done: 1, total: 1 });
  return opened;
}

/** Stores the account key on an own device. `storage_full`. */
export async function keepAccountKey(vault: VaultContext, keys: AccountKeys): Promise<void> {
  const { wrapping, iv, sealed, keyEpoch } = keys.accountKey;
  await vault.device.write({ kind: "own", accountKey: { wrapping, iv, sealed, keyEpoch }, locked: false, lockedAt: null, lastActivity: vault.now() });
}

/**
 * The answer to "my own device or a shared computer". An own one keeps the account key, unreadable, between page loads.
 *
 * @throws PortalError `vault_locked`, `storage_full`.
 */
export async function answerDevice(vault: VaultContext, kind: DeviceKind): Promise<void> {
  const keys = requireKeys(vault);
  if (kind === "own") await keepAccountKey(vault, keys);
  else await vault.device.write({ kind, accountKey: null, locked: false });
  vault.setState({ status: "unlocked", device: kind });
}

async function heldKeys(vault: VaultContext): Promise<AccountKeys | null> {
  if (vault.keys !== null) return vault.keys;
  const { accountKey } = await vault.device.read();
  return accountKey === null ? null : deriveAccountKeys(await unwrapAccountKey(accountKey));
}

/** A device that holds an account key takes another one only of a higher generation, by an opener shown now. */
function refuseForeignKey(held: AccountKeys | null, given: AccountKeys): void {
  if (held === null || isSameAccountKey(held, given)) return;
  if (given.keyEpoch <= held.keyEpoch) throw new PortalError("own_key_changed");
}

function refuseForeignHelper(opened: OpenedKeyring, image: RecognisedImage): void {
  const { opener, helperSha256 } = image;
  const entry = opened.book.images.find((one) => one.id === opener.openerId);
  if (entry?.helper_sha256 !== helperSha256) throw new PortalError("helper_changed");
  const standing = opened.book.openers.some((one) => one.id === opener.openerId && one.kind === "image" && one.recipient === opener.recipient);
  if (!standing || entry.status !== "opener") throw new PortalError("decryption_failed");
}
