import type { Keyring } from "@relicario/shared/api";
import type { DeviceKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { keptTitlesKeys, type TitlesKeys } from "../seal/account-key.ts";
import { requireKeys, type ActOptions, type VaultContext } from "../vault-context.ts";
import { openAccount } from "../steps/open-account.ts";
import { readKeyring, type KeyringView, type OpenedKeyring, type Witness } from "../steps/read-keyring.ts";
import { recogniseOpener, type RecognisedOpener } from "../steps/recognise-opener.ts";
import type { Shown } from "../shown-image.ts";

/**
 * [Note: Unlock sequence]
 * 1. Keyring, checked against what this device remembers; for a picture the image records.
 * 2. The picture finds its helper, the helper gives the image root, the root gives the opener. A
 *    code or a passkey gives it at once, and finds its slot.
 * 3. The opener's slot: header, mac, user, opener and epoch, then the account key in it.
 * 4. A device that holds an account takes no other one of the same generation.
 * 5. The key must open the state, book and shares that were given, be the one of the key statement,
 *    and vouch for the book's openers.
 * 6. The helper of a picture must have the book's digest, the opener must stand in the book.
 * 7. Only then the vault is unlocked, and the state remembered.
 *
 * @param witness what another device of the account saw; the keyring has to lead to it before
 *   anything is opened
 * @returns the recognised opener, for the one act that it was shown for (call `opener.forget()`),
 *   and the keyring as it was read and opened, so that the act need not read it again.
 * @throws PortalError `no_keyring`, those of {@link recogniseOpener}, `own_key_changed`,
 *   `helper_changed`, `decryption_failed`.
 */
export async function unlock(
  vault: VaultContext,
  shown: Shown,
  options: ActOptions = {},
  witness: Witness | null = null,
): Promise<RecognisedOpener & { readonly view: KeyringView }> {
  const view = await readKeyring(vault, options.signal, "drop_aloud", witness);
  if (view === null) throw new PortalError("no_keyring");
  const recognised = await recogniseOpener(vault, shown, view, options);
  try {
    const opened = await unlockWith(vault, view.keyring, recognised, options);
    return { ...recognised, view: { keyring: view.keyring, opened } };
  } catch (error) {
    recognised.opener.forget();
    throw error;
  }
}

/** Steps 3 to 7. */
async function unlockWith(
  vault: VaultContext,
  keyring: Keyring,
  recognised: RecognisedOpener,
  options: ActOptions,
): Promise<OpenedKeyring> {
  options.onProgress?.({ phase: "opening", done: 0, total: 1 });
  const opened = await openAccount(vault, keyring, recognised);
  if (recognised.kind === "passkey") await lockByPasskey(vault, recognised.opener.openerId);
  const { kind } = await vault.device.read();
  if (kind === "own") await keepTitlesKeys(vault, opened.keys);
  vault.setState({ status: "unlocked", device: kind });
  options.onProgress?.({ phase: "opening", done: 1, total: 1 });
  return opened;
}

/**
 * From now on a lock takes the titles keys away on an own device: this passkey opened or was made
 * here.
 */
export async function lockByPasskey(vault: VaultContext, openerId: string): Promise<void> {
  await vault.device.update(({ passkeyOpener }) => (passkeyOpener === openerId ? null : { passkeyOpener: openerId }));
}

/**
 * Stores the titles keys on an own device, where its browser can keep all of them; says whether it
 * could. `storage_full`.
 */
export async function keepTitlesKeys(vault: VaultContext, keys: TitlesKeys): Promise<boolean> {
  const titlesKeys = keptTitlesKeys(keys);
  await vault.device.write({
    kind: "own",
    titlesKeys,
    locked: false,
    lockedAt: null,
    lockedSignIn: null,
    lastActivity: vault.now(),
  });
  return titlesKeys !== null;
}

/**
 * The answer to "my own device or a shared computer". An own one keeps the titles keys, unreadable,
 * between page loads: `remembers`, but not in a browser without Ed25519.
 *
 * @throws PortalError `vault_locked`, `storage_full`.
 */
export async function answerDevice(vault: VaultContext, kind: DeviceKind): Promise<{ remembers: boolean }> {
  const keys = requireKeys(vault);
  const isOwn = kind === "own";
  const remembers = isOwn && (await keepTitlesKeys(vault, keys));
  if (isOwn) vault.held = null; // read whole once more, to be kept
  else {
    await vault.device.write({ kind, titlesKeys: null, locked: false });
    await vault.kept.rows.drop();
  }
  vault.setState({ status: "unlocked", device: kind });
  return { remembers };
}
