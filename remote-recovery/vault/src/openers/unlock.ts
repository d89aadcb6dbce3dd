import type { Keyring } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { openAccount } from "./open-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import type { KeyringView, OpenedKeyring } from "../session/keyring-views.ts";
import type { Witness } from "../keyring/fetch-keyring.ts";
import { recogniseOpener, type RecognisedOpener } from "./recognise-opener.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { saveMetadataKeys, savePasskeyOpener } from "../device/saved-keys.ts";

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
 * @returns the recognised opener, for the one operation that it was shown for (call
 *   `opener.wipe()`), and the keyring as it was read and opened, so that the operation need not
 *   read it again.
 * @throws PortalError `no_keyring`, those of {@link recogniseOpener}, `own_key_changed`,
 *   `helper_changed`, `decryption_failed`.
 */
export async function unlock(
  vault: VaultSession,
  presentedOpener: PresentedOpener,
  options: OperationOptions = {},
  witness: Witness | null = null,
): Promise<RecognisedOpener & { readonly view: KeyringView }> {
  const view = await refreshKeyring(vault, options.signal, "drop_and_throw", witness);
  if (view === null) throw new PortalError("no_keyring");
  const recognised = await recogniseOpener(vault, presentedOpener, view, options);
  try {
    const openedKeyring = await unlockWith(vault, view.keyring, recognised, options);
    return { ...recognised, view: { keyring: view.keyring, openedKeyring } };
  } catch (error) {
    recognised.opener.wipe();
    throw error;
  }
}

/** Steps 3 to 7. */
async function unlockWith(
  vault: VaultSession,
  keyring: Keyring,
  recognised: RecognisedOpener,
  options: OperationOptions,
): Promise<OpenedKeyring> {
  options.onProgress?.({ phase: "opening", done: 0, total: 1 });
  const openedKeyring = await openAccount(vault, keyring, recognised);
  if (recognised.kind === "passkey") await savePasskeyOpener(vault, recognised.opener.openerId);
  const { kind } = await vault.device.read();
  if (kind === "own") await saveMetadataKeys(vault, openedKeyring.keys);
  await vault.reportUnlocked();
  options.onProgress?.({ phase: "opening", done: 1, total: 1 });
  return openedKeyring;
}
