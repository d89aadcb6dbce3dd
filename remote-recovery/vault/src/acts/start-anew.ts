import { maxFileNameLength } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { refuseCancelled } from "../cancelled.ts";
import { text } from "../seal/text.ts";
import type { ShownPicture } from "../shown-image.ts";
import { check } from "../steps/check-request.ts";
import { accountAnew, holdFirst, type NewAccount } from "../steps/choose-openers.ts";
import { pendingAccount } from "../steps/pending.ts";
import { readKeyring, readUnopened } from "../steps/read-keyring.ts";
import { firstChange } from "../steps/signed-change.ts";
import { isAnswerLost, sendUntilAnswered } from "../steps/until-answered.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { keepTitlesKeys } from "./unlock.ts";

const Named = z.object({ name: text(maxFileNameLength) });

/** Another device may write between reading and sending: so many tries. */
const tries = 3;

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
export async function beginAnew(
  vault: VaultContext,
  { shown, name }: { readonly shown: ShownPicture; readonly name: string },
  options: ActOptions = {},
): Promise<void> {
  check(Named, { name });
  await vault.oneWriter(async () => {
    for (let done = 1; ; done++) {
      try {
        await beginOnce(vault, { shown, name }, options);
        return;
      } catch (error) {
        if (!isPortalError(error, "state_conflict") || done >= tries) throw error;
      }
    }
  });
}

async function beginOnce(
  vault: VaultContext,
  { shown, name }: { readonly shown: ShownPicture; readonly name: string },
  options: ActOptions,
): Promise<void> {
  const before = await readUnopened(vault, options.signal);
  // its answer was lost the last time
  if (await isBegun(vault, before.key_statement.sig)) return settle(vault, before.key_epoch, options);
  const made = await accountAnew(vault, { kind: "picture", shown, name }, before.key_epoch + 1, options);
  const change = await firstChange(vault, made.first, [], before);
  refuseCancelled(options.signal); // the last moment: what is sent may be published
  options.onProgress?.({ phase: "sending", done: 0, total: 1 });
  try {
    await sendUntilAnswered(vault.pause, () => vault.service.changeKeyring(change.keyring));
  } catch (error) {
    if (!isAnswerLost(error) || !(await isServed(vault, made, options))) throw error;
  }
  if (!(await isServed(vault, made, options))) throw new PortalError("publication_not_seen");
  const { accountKey, pending } = vault;
  holdFirst(vault, made);
  try {
    await settle(vault, made.first.keys.keyEpoch, options);
  } catch (error) {
    Object.assign(vault, { accountKey, pending }); // what waits on the device tells at the next reading
    throw error;
  }
}

async function isServed(vault: VaultContext, { first }: NewAccount, { signal }: ActOptions): Promise<boolean> {
  return (await readUnopened(vault, signal)).key_statement.sig === first.statement.sig;
}

/** Whether what waits on this device is what the service has by now. */
async function isBegun(vault: VaultContext, sig: string): Promise<boolean> {
  return (await pendingAccount(vault.device))?.statement.sig === sig;
}

/** Reads what was begun, with its own keys, and lets go of what this device held before. */
async function settle(vault: VaultContext, keyEpoch: number, options: ActOptions): Promise<void> {
  vault.held = null;
  if (vault.pending !== null)
    // by the sign-in that it took; else its page locks what is unlocked now
    await vault.device.update(({ locked }) => (locked ? { locked: false, lockedAt: null, lockedSignIn: null } : null));
  const keys = (await readKeyring(vault, options.signal))?.opened?.keys;
  if (keys?.keyEpoch !== keyEpoch) {
    if (vault.pending === null) return; // begun before a reload: its picture unlocks it
    throw new PortalError("publication_not_seen");
  }
  const { kind } = await vault.device.read();
  await vault.device.update(({ passkeyOpener }) => (passkeyOpener === null ? null : { passkeyOpener: null }));
  if (kind === "own") await keepTitlesKeys(vault, keys);
  options.onProgress?.({ phase: "sending", done: 1, total: 1 });
}
