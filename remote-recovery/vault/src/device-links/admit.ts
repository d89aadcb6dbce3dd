import type { AdmittedDevice, AskingDevice } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { sealAll } from "../acts/cover.ts";
import { enterOpener, openableRows } from "../acts/openers.ts";
import { withShownOpener } from "../acts/recover.ts";
import { wipe, type Bytes } from "../seal/bytes.ts";
import {
  deviceLinkId,
  openLinkRequest,
  readDeviceCode,
  sealLinkAnswer,
  slotMakerOf,
  type LinkRequest,
} from "../seal/device-link.ts";
import { stateDigest } from "../seal/state.ts";
import type { Shown } from "../shown-image.ts";
import { readAccount } from "../steps/read-account.ts";
import { sendUntilAnswered } from "../steps/until-answered.ts";
import { requireKeys, type ActOptions, type VaultContext } from "../vault-context.ts";

/**
 * Who shows this code, and what it would open. Changes nothing.
 *
 * @param typed the code as it was typed or scanned
 * @throws PortalError `device_code_unreadable`, `vault_locked`, `device_link_unavailable`,
 *   `device_link_own`, `decryption_failed` when what lies there was not left by whoever shows the
 *   code.
 */
export async function askingDevice(
  vault: VaultContext,
  typed: string,
  options: ActOptions = {},
): Promise<AskingDevice> {
  const code = readDeviceCode(typed);
  try {
    requireKeys(vault);
    const { opener } = await readRequest(vault, code, options.signal);
    const account = await readAccount(vault, options.signal);
    if (account === null) throw new PortalError("no_keyring");
    return { name: opener.name, secrets: (await openableRows(vault, account)).length };
  } finally {
    wipe(code);
  }
}

/**
 * Enters the device that shows this code as an opener, seals to it what `shown` opens, and tells it
 * the newest state. What is done stays done: after an abort or an error the same code goes on while
 * it lasts, and any other call of `cover` does.
 *
 * @returns `answered` is false when the other device no longer waits: it unlocks by its passkey all
 *   the same
 * @throws PortalError as {@link askingDevice}, `id_taken`, `limit_reached`, and those of showing an
 *   opener and of publishing.
 */
export async function admitDevice(
  vault: VaultContext,
  typed: string,
  shown: Shown,
  options: ActOptions = {},
): Promise<AdmittedDevice> {
  const code = readDeviceCode(typed);
  try {
    requireKeys(vault);
    const request = await readRequest(vault, code, options.signal);
    const sealed = await withShownOpener(vault, shown, options, async (_account, show) => {
      const opener = await show();
      if (vault.accountKey === null) throw new PortalError("show_opener_first");
      const { kind, name } = request.opener;
      await enterOpener(vault, vault.accountKey, { ...slotMakerOf(request), kind, name }, options);
      return sealAll(vault, opener, (openers) => openers, options);
    });
    return { ...sealed, answered: await answer(vault, code, options.signal) };
  } finally {
    wipe(code);
  }
}

async function readRequest(vault: VaultContext, code: Bytes, signal: AbortSignal | undefined): Promise<LinkRequest> {
  try {
    return await openLinkRequest(code, vault.userId, await vault.service.deviceLinks.read(deviceLinkId(code), signal));
  } catch (error) {
    if (isPortalError(error, "not_found")) throw new PortalError("device_link_unavailable", { cause: error });
    if (isPortalError(error, "forbidden")) throw new PortalError("device_link_own", { cause: error });
    throw error;
  }
}

/** The state that this device has read and opened, with everything that it just published. */
async function answer(vault: VaultContext, code: Bytes, signal: AbortSignal | undefined): Promise<boolean> {
  const account = await readAccount(vault, signal);
  if (account?.view.opened == null) throw new PortalError("vault_locked");
  const { state_rev: stateRev, state } = account.view.keyring;
  const sealed = await sealLinkAnswer(code, {
    v: 1,
    user_id: vault.userId,
    state_rev: stateRev,
    state_sha256: stateDigest(state),
  });
  try {
    await sendUntilAnswered(vault.pause, () => vault.service.deviceLinks.answer(deviceLinkId(code), sealed));
    return true;
  } catch (error) {
    if (isPortalError(error, "not_found", "conflict")) return false; // its time is over, or another device answered
    throw error;
  }
}
