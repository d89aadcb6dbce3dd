import { maxFileNameLength } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import { nonEmptyText } from "../seal/text.ts";
import type { PresentedPicture } from "../rpc/presented-opener.ts";
import { validate } from "../secrets/validate-request.ts";
import { prepareAccountReset } from "../openers/prepare-account.ts";
import { type UnpublishedAccount, loadPendingAccount } from "../device/pending-account.ts";
import { refreshKeyring, readUnopenedKeyring } from "../keyring/refresh-keyring.ts";
import { buildFirstChange } from "../keyring/build-keyring-change.ts";
import { isResponseLost, sendWithRetry } from "../service/send-with-retry.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { saveMetadataKeys } from "../device/saved-keys.ts";

const ImageNameInput = z.object({ name: nonEmptyText(maxFileNameLength) });

/** An attempt fails when another device writes between reading and sending. */
const maxAttempts = 3;

/**
 * [Note: Account reset] Resets an account whose openers are all lost, 7 days after the request, if
 * no other device objected.
 *
 * 1. Reads the served keyring without opening it. The chain of states must follow from this
 *    device's checkpoint, and the key statement must be signed by the statement's own key.
 * 2. Creates a new account with the picture: `key_epoch` is the served one + 1, `previous_sig` is
 *    null. Saves the account as pending before sending.
 * 3. Sends one signed change: the next `state_rev` with `previous`, count 0, a new slot, book,
 *    shares and statement. The change removes all former openers.
 * 4. Reads the keyring again and opens it with the new keys. Only then the device drops its former
 *    keys.
 *
 * The service decides whether a reset was requested, waited for and not objected to. A hostile
 * service gains nothing by claiming so: a reset only begins when a person presents a picture here.
 *
 * @throws PortalError `conflict` while a reset is not allowed, `login_required`, `no_keyring`,
 *   `older_state`, `own_key_changed`, `state_conflict`, `publication_not_seen`, those of a new
 *   picture, and those of reading. An error before sending leaves the account unchanged. After
 *   sending, `publication_not_seen` and errors of reading leave open whether the service has reset
 *   the account.
 */
export async function resetAccount(
  vault: VaultSession,
  { presentedPicture, name: imageName }: { readonly presentedPicture: PresentedPicture; readonly name: string },
  options: OperationOptions = {},
): Promise<void> {
  validate(ImageNameInput, { name: imageName });
  await vault.runExclusive(async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        await resetOnce(vault, presentedPicture, imageName, options);
        return;
      } catch (error) {
        if (!isPortalError(error, "state_conflict") || attempt >= maxAttempts) throw error;
      }
    }
  });
}

async function resetOnce(
  vault: VaultSession,
  presentedPicture: PresentedPicture,
  imageName: string,
  options: OperationOptions,
): Promise<void> {
  const previousKeyring = await readUnopenedKeyring(vault, options.signal);
  // an earlier attempt published the account, but its response was lost
  if (await isPendingAccountServed(vault, previousKeyring.key_statement.sig))
    return finishReset(vault, previousKeyring.key_epoch, options);
  const newAccount = await prepareAccountReset(
    vault,
    { kind: "picture", picture: presentedPicture, name: imageName },
    previousKeyring.key_epoch + 1,
    options,
  );
  const change = await buildFirstChange(vault, newAccount.accountKey, newAccount.documents, [], previousKeyring);
  throwIfCancelled(options.signal); // last chance to cancel: the service may publish a sent change
  options.onProgress?.({ phase: "sending", done: 0, total: 1 });
  try {
    await sendWithRetry(vault.pause, () => vault.service.changeKeyring(change.keyringChange));
  } catch (error) {
    if (!isResponseLost(error) || !(await isServed(vault, newAccount, options))) throw error;
  }
  if (!(await isServed(vault, newAccount, options))) throw new PortalError("publication_not_seen");
  const undoPending = vault.adopt(newAccount);
  try {
    await finishReset(vault, newAccount.documents.keys.keyEpoch, options);
  } catch (error) {
    undoPending(); // the device keeps the pending account until a reading resolves it
    throw error;
  }
}

async function isServed(
  vault: VaultSession,
  { documents }: UnpublishedAccount,
  { signal }: OperationOptions,
): Promise<boolean> {
  return (await readUnopenedKeyring(vault, signal)).key_statement.sig === documents.statement.sig;
}

/** Whether the served account is the account pending on this device. */
async function isPendingAccountServed(vault: VaultSession, servedStatementSig: string): Promise<boolean> {
  return (await loadPendingAccount(vault.device))?.statement.sig === servedStatementSig;
}

/** Opens the served account with its new keys, then drops this device's former keys. */
async function finishReset(vault: VaultSession, keyEpoch: number, options: OperationOptions): Promise<void> {
  vault.listCache.drop();
  if (vault.adoptedAccount !== null)
    // the reset's sign-in also unlocks the device; a locked device would lock the page again
    await vault.device.update(({ locked }) => (locked ? { locked: false, lockedAt: null, lockedSignIn: null } : null));
  const keys = (await refreshKeyring(vault, options.signal))?.openedKeyring?.keys;
  if (keys?.keyEpoch !== keyEpoch) {
    // published before a page reload: the account's picture unlocks the account afterwards
    if (vault.adoptedAccount === null) return;
    throw new PortalError("publication_not_seen");
  }
  const { kind } = await vault.device.read();
  await vault.device.update(({ passkeyOpener }) => (passkeyOpener === null ? null : { passkeyOpener: null }));
  if (kind === "own") await saveMetadataKeys(vault, keys);
  options.onProgress?.({ phase: "sending", done: 1, total: 1 });
}
