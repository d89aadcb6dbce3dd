import type { Keyring } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { openAccount } from "./open-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import type { KeyringView, OpenedKeyring } from "../session/keyring-views.ts";
import type { Witness } from "../keyring/fetch-keyring.ts";
import type { RecognisedOpener } from "../seal/opener.ts";
import { recogniseOpener } from "./recognise-opener.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { saveMetadataKeys, savePasskeyOpener } from "../device/saved-keys.ts";

/**
 * [Note: Unlock sequence]
 * 1. The keyring is fetched and verified against this device's checkpoint. For a picture, the image
 *    records are fetched too.
 * 2. A picture finds its helper, which yields the image root key and thereby the opener. A code or
 *    a passkey yields the opener directly, and finds its slot.
 * 3. The opener's slot is opened: header, mac, user, opener and epoch are checked, then the account
 *    key is taken from it.
 * 4. A device that knows the account refuses another account key of the same or a lower epoch.
 * 5. The account key must open the served state, book and shares, match the key statement, and
 *    verify the book's openers.
 * 6. A picture's helper must have the book's digest, and the opener must be in the book.
 * 7. A device that remembers nothing of the account asks whether the mark is the person's, unless
 *    another device has vouched for the state.
 * 8. Only then is the vault unlocked and the checkpoint saved.
 *
 * @param witness state that another device has verified; the keyring must descend from it before
 *   anything is opened
 * @returns the recognised opener for the one operation that it was presented for, which the caller
 *   wipes; and the opened keyring, so that the operation need not read it again
 * @throws PortalError `no_keyring`, those of {@link recogniseOpener}, `own_key_changed`,
 *   `helper_changed`, `decryption_failed`, `mark_refused`
 */
export async function unlock(
  vault: VaultSession,
  presentedOpener: PresentedOpener,
  options: OperationOptions = {},
  witness: Witness | null = null,
): Promise<RecognisedOpener & { readonly view: KeyringView }> {
  const view = await refreshKeyring(vault, options.signal, "drop_and_throw", witness);
  if (view === null) throw new PortalError("no_keyring");
  const recognisedOpener = await recogniseOpener(vault, presentedOpener, view, options);
  try {
    const openedKeyring = await unlockWith(vault, view.keyring, recognisedOpener, witness !== null, options);
    await vault.keepOpener(recognisedOpener);
    return { ...recognisedOpener, view: { keyring: view.keyring, openedKeyring } };
  } catch (error) {
    recognisedOpener.opener.wipe();
    throw error;
  }
}

/** Steps 3 to 8 of [Note: Unlock sequence]. */
async function unlockWith(
  vault: VaultSession,
  keyring: Keyring,
  recognisedOpener: RecognisedOpener,
  isVouched: boolean,
  options: OperationOptions,
): Promise<OpenedKeyring> {
  options.onProgress?.({ phase: "opening", done: 0, total: 1 });
  const keysBefore = vault.keys;
  const openedKeyring = await openAccount(vault, keyring, recognisedOpener, isVouched);
  try {
    if (recognisedOpener.kind === "passkey") await savePasskeyOpener(vault, recognisedOpener.opener.openerId);
    const { kind } = await vault.device.read();
    if (kind === "own") await saveMetadataKeys(vault, openedKeyring.keys);
    await vault.reportUnlocked();
  } catch (error) {
    if (vault.keys !== keysBefore) vault.lock(); // the page must know of all keys
    throw error;
  }
  options.onProgress?.({ phase: "opening", done: 1, total: 1 });
  return openedKeyring;
}
