import { maxFileNameLength } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import { nonEmptyText } from "../seal/text.ts";
import type { PresentedPicture } from "../rpc/presented-opener.ts";
import { validate } from "../secrets/validate-request.ts";
import { prepareAccountReset } from "../openers/begin-account.ts";
import { type UnpublishedAccount, loadPendingAccount } from "../device/pending-account.ts";
import { refreshKeyring, readUnopenedKeyring } from "../keyring/refresh-keyring.ts";
import { buildFirstChange } from "../keyring/build-keyring-change.ts";
import { isResponseLost, sendWithRetry } from "../service/send-with-retry.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { saveMetadataKeys } from "../device/saved-keys.ts";

const NameInput = z.object({ name: nonEmptyText(maxFileNameLength) });

/** Another device may write between reading and sending: so many tries. */
const maxTries = 3;

/**
 * [Note: Starting anew] Everything that opened the account is lost, 7 days went by, and no device
 * objected.
 *
 * 1. The keyring that the service gives is read, not opened: its chain leads on from what this
 *    device remembers, its statement verifies itself.
 * 2. A new account is made by the picture: the served `key_epoch` + 1, `previous_sig` null. It is
 *    stored as pending before it is sent.
 * 3. One signed change: the next `state_rev` with `previous`, count 0, new slot, book, shares and
 *    statement; every opener of before goes.
 * 4. It is believed once the account was read and opened by its keys. Only then the keys that this
 *    device held before go.
 *
 * Whether it was asked for, waited for and not objected to is the service's to say; a hostile one
 * gains nothing by saying so, for only somebody who shows a picture here begins anything.
 *
 * @throws PortalError `conflict` while it may not be begun, `login_required`, `no_keyring`,
 *   `older_state`, `own_key_changed`, `state_conflict`, `publication_not_seen`, and those of a new
 *   picture. Nothing is changed then.
 */
export async function resetAccount(
  vault: VaultSession,
  { presentedPicture, name }: { readonly presentedPicture: PresentedPicture; readonly name: string },
  options: OperationOptions = {},
): Promise<void> {
  validate(NameInput, { name });
  await vault.runExclusive(async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        await resetOnce(vault, { presentedPicture, name }, options);
        return;
      } catch (error) {
        if (!isPortalError(error, "state_conflict") || attempt >= maxTries) throw error;
      }
    }
  });
}

async function resetOnce(
  vault: VaultSession,
  { presentedPicture, name }: { readonly presentedPicture: PresentedPicture; readonly name: string },
  options: OperationOptions,
): Promise<void> {
  const previousKeyring = await readUnopenedKeyring(vault, options.signal);
  // its answer was lost the last time
  if (await wasAlreadyPublished(vault, previousKeyring.key_statement.sig))
    return finishReset(vault, previousKeyring.key_epoch, options);
  const newAccount = await prepareAccountReset(
    vault,
    { kind: "picture", picture: presentedPicture, name },
    previousKeyring.key_epoch + 1,
    options,
  );
  const change = await buildFirstChange(vault, newAccount.firstAccount, [], previousKeyring);
  throwIfCancelled(options.signal); // the last moment: what is sent may be published
  options.onProgress?.({ phase: "sending", done: 0, total: 1 });
  try {
    await sendWithRetry(vault.pause, () => vault.service.changeKeyring(change.keyring));
  } catch (error) {
    if (!isResponseLost(error) || !(await isPublished(vault, newAccount, options))) throw error;
  }
  if (!(await isPublished(vault, newAccount, options))) throw new PortalError("publication_not_seen");
  const undoAdoption = vault.adopt(newAccount.firstAccount, newAccount.accountKey);
  try {
    await finishReset(vault, newAccount.firstAccount.keys.keyEpoch, options);
  } catch (error) {
    undoAdoption(); // what waits on the device tells at the next reading
    throw error;
  }
}

async function isPublished(
  vault: VaultSession,
  { firstAccount }: UnpublishedAccount,
  { signal }: OperationOptions,
): Promise<boolean> {
  return (await readUnopenedKeyring(vault, signal)).key_statement.sig === firstAccount.statement.sig;
}

/** Whether what waits on this device is what the service has by now. */
async function wasAlreadyPublished(vault: VaultSession, sig: string): Promise<boolean> {
  return (await loadPendingAccount(vault.device))?.statement.sig === sig;
}

/** Reads what was begun, with its own keys, and lets go of what this device held before. */
async function finishReset(vault: VaultSession, keyEpoch: number, options: OperationOptions): Promise<void> {
  vault.list.drop();
  if (vault.pending !== null)
    // by the sign-in that it took; else its page locks what is unlocked now
    await vault.device.update(({ locked }) => (locked ? { locked: false, lockedAt: null, lockedSignIn: null } : null));
  const keys = (await refreshKeyring(vault, options.signal))?.openedKeyring?.keys;
  if (keys?.keyEpoch !== keyEpoch) {
    if (vault.pending === null) return; // begun before a reload: its picture unlocks it
    throw new PortalError("publication_not_seen");
  }
  const { kind } = await vault.device.read();
  await vault.device.update(({ passkeyOpener }) => (passkeyOpener === null ? null : { passkeyOpener: null }));
  if (kind === "own") await saveMetadataKeys(vault, keys);
  options.onProgress?.({ phase: "sending", done: 1, total: 1 });
}
