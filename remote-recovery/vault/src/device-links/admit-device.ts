import type { ApprovedDevice, RequestingDevice } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { resealAll } from "../operations/reseal-for-all-openers.ts";
import { registerOpener, readOpenableRows } from "../operations/openers.ts";
import { withPresentedOpener } from "../openers/with-presented-opener.ts";
import { wipe, type Bytes } from "../seal/bytes.ts";
import {
  deriveDeviceLinkId,
  openLinkRequest,
  parseDeviceCode,
  sealLinkAnswer,
  toSlotTarget,
  type LinkRequest,
} from "../seal/device-link.ts";
import { computeStateDigest } from "../seal/state.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { readAccount } from "../keyring/read-account.ts";
import { sendWithRetry } from "../service/send-with-retry.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";

/**
 * Reads which device shows this code, and how many secrets the device would open. Changes nothing.
 *
 * @param codeInput the code as typed or scanned
 * @throws PortalError `device_code_unreadable`, `vault_locked`, `device_link_unavailable`,
 *   `device_link_own`, `no_keyring`, `decryption_failed` if the message was not sealed with this
 *   code
 */
export async function inspectRequestingDevice(
  vault: VaultSession,
  codeInput: string,
  options: OperationOptions = {},
): Promise<RequestingDevice> {
  const code = parseDeviceCode(codeInput);
  try {
    vault.requireKeys();
    const { opener } = await readLinkRequest(vault, code, options.signal);
    const account = await readAccount(vault, options.signal);
    if (account === null) throw new PortalError("no_keyring");
    return { name: opener.name, secretCount: (await readOpenableRows(vault, account)).length };
  } finally {
    wipe(code);
  }
}

/**
 * Adds the device that shows this code as an opener. Seals the secrets that `presentedOpener` opens
 * to the new opener, and sends the device the newest state. After an interruption, the same code
 * continues until it expires; `resealForAllOpeners` continues at any time.
 *
 * @returns `notified` is false if the other device no longer waits; its passkey still unlocks that
 *   device
 * @throws PortalError those of {@link inspectRequestingDevice}, `id_taken`, `limit_reached`, and
 *   errors of presenting an opener and of publishing
 */
export async function admitDevice(
  vault: VaultSession,
  codeInput: string,
  presentedOpener: PresentedOpener,
  options: OperationOptions = {},
): Promise<ApprovedDevice> {
  const code = parseDeviceCode(codeInput);
  try {
    vault.requireKeys();
    const request = await readLinkRequest(vault, code, options.signal);
    const resealedSecrets = await withPresentedOpener(
      vault,
      presentedOpener,
      options,
      async (_account, presentOpener) => {
        const opener = await presentOpener();
        if (vault.accountKey === null) throw new PortalError("show_opener_first");
        const { kind, name } = request.opener;
        await registerOpener(vault, vault.accountKey, { ...toSlotTarget(request), kind, name }, options);
        return resealAll(vault, opener, (openers) => openers, options);
      },
    );
    return { ...resealedSecrets, notified: await sendAnswer(vault, code, options.signal) };
  } finally {
    wipe(code);
  }
}

async function readLinkRequest(
  vault: VaultSession,
  code: Bytes,
  signal: AbortSignal | undefined,
): Promise<LinkRequest> {
  try {
    return await openLinkRequest(
      code,
      vault.userId,
      await vault.service.deviceLinks.read(deriveDeviceLinkId(code), signal),
    );
  } catch (error) {
    if (isPortalError(error, "not_found")) throw new PortalError("device_link_unavailable", { cause: error });
    if (isPortalError(error, "forbidden")) throw new PortalError("device_link_own", { cause: error });
    throw error;
  }
}

/** Sends the newest verified state. Returns false if the other device no longer waits. */
async function sendAnswer(vault: VaultSession, code: Bytes, signal: AbortSignal | undefined): Promise<boolean> {
  const account = await readAccount(vault, signal);
  if (account?.view.openedKeyring == null) throw new PortalError("vault_locked");
  const { state_rev: stateRev, state } = account.view.keyring;
  const sealedAnswer = await sealLinkAnswer(code, {
    v: 1,
    user_id: vault.userId,
    state_rev: stateRev,
    state_sha256: computeStateDigest(state),
  });
  try {
    await sendWithRetry(vault.pause, () => vault.service.deviceLinks.answer(deriveDeviceLinkId(code), sealedAnswer));
    return true;
  } catch (error) {
    if (isPortalError(error, "not_found", "conflict")) return false; // the link expired, or another device answered
    throw error;
  }
}
