import { deviceLinkLifetimeMinutes, maxFileNameLength, toBase64url } from "@relicario/shared/api";
import type { DeviceOffer } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { unlock } from "../openers/unlock.ts";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import {
  encodeDeviceCode,
  deriveDeviceLinkId,
  generateDeviceCode,
  openLinkAnswer,
  parseDeviceCode,
  sealLinkRequest,
  type LinkAnswer,
} from "../seal/device-link.ts";
import { wipe, type Bytes } from "../seal/bytes.ts";
import { newId, formatTimestamp } from "../seal/ids.ts";
import { deriveOpenerFromSeed } from "../seal/opener.ts";
import { nonEmptyText } from "../seal/text.ts";
import type { PresentedKey } from "../rpc/presented-opener.ts";
import { validate } from "../secrets/validate-request.ts";
import { deriveKeySeed } from "../openers/recognise-opener.ts";
import { isResponseLost, sendWithRetry } from "../service/send-with-retry.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";

/*
 * [Note: Another device]
 *
 * 1. The new device creates a passkey and a code, leaves a sealed message in the code's mailbox
 *    (`offerDevice`), shows the code, and polls for the answer.
 * 2. The unlocked device opens the message with the code (`admit-device.ts`) and is presented an
 *    opener. It adds the new opener to book and keyring, re-seals the tickets to the new opener,
 *    and answers with the newest state that it has verified.
 * 3. The new device reads the keyring, which must be at that state or follow from it. Then its
 *    passkey unlocks it (`joinDevice`).
 *
 * No key is sent. After a lost call, both devices continue with the same code until it expires.
 * After that, the passkey unlocks like any other if it was added.
 */

const pollIntervalMilliseconds = 2_000;

const OfferInput = z.object({ name: nonEmptyText(maxFileNameLength) });

/**
 * Leaves a message with this device's passkey opener in a new mailbox. Saves nothing, and changes
 * nothing in the account.
 *
 * @throws PortalError `validation_error` for the name or the kind of key, `passkey_without_prf`,
 *   and errors of the call
 */
export async function offerDevice(
  vault: VaultSession,
  { key, name }: { readonly key: PresentedKey; readonly name: string },
  options: OperationOptions = {},
): Promise<DeviceOffer> {
  validate(OfferInput, { name });
  if (key.kind !== "passkey") throw new PortalError("validation_error", { details: { fields: ["handle"] } });
  const opener = await deriveOpenerFromSeed(newId(vault.now()), deriveKeySeed(key));
  const code = generateDeviceCode();
  try {
    throwIfCancelled(options.signal);
    const expiresAt = formatTimestamp(vault.now() + deviceLinkLifetimeMinutes * 60_000);
    const linkOpener = {
      id: opener.openerId,
      kind: key.kind,
      name,
      recipient: opener.recipient,
      slot_auth: toBase64url(opener.slotAuth),
    };
    const message = await sealLinkRequest(code, { v: 1, user_id: vault.userId, opener: linkOpener });
    await sendWithRetry(vault.pause, () => vault.service.deviceLinks.fill(deriveDeviceLinkId(code), message));
    return { words: encodeDeviceCode(code), expiresAt };
  } finally {
    opener.wipe();
    wipe(code);
  }
}

/**
 * Waits for the unlocked device's answer, then unlocks with the offered passkey. The served keyring
 * must follow from the state in the answer.
 *
 * @throws PortalError `device_link_expired`, `histories_differ`, `decryption_failed` for a forged
 *   answer, `cancelled`, and those of {@link unlock}. After any error but the first, the same offer
 *   can be used again.
 */
export async function joinDevice(
  vault: VaultSession,
  offer: DeviceOffer,
  key: PresentedKey,
  options: OperationOptions = {},
): Promise<void> {
  const code = parseDeviceCode(offer.words.join(" "));
  try {
    const { state_rev: stateRev, state_sha256: stateSha256 } = await waitForAnswer(
      vault,
      code,
      Date.parse(offer.expiresAt),
      options.signal,
    );
    const { opener } = await unlock(vault, key, options, { stateRev, stateSha256 });
    opener.wipe();
  } finally {
    wipe(code);
  }
}

async function waitForAnswer(
  vault: VaultSession,
  code: Bytes,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<LinkAnswer> {
  for (;;) {
    throwIfCancelled(signal);
    const answer = await pollAnswer(vault, deriveDeviceLinkId(code), signal);
    if (answer !== null) return openLinkAnswer(code, vault.userId, answer);
    if (vault.now() >= deadline) throw new PortalError("device_link_expired");
    await vault.pause(pollIntervalMilliseconds, signal);
  }
}

/** Null while there is no answer, and after a lost call. */
async function pollAnswer(vault: VaultSession, id: string, signal: AbortSignal | undefined): Promise<string | null> {
  try {
    return await vault.service.deviceLinks.readAnswer(id, signal);
  } catch (error) {
    if (isPortalError(error, "not_found")) throw new PortalError("device_link_expired", { cause: error });
    if (isResponseLost(error) || isPortalError(error, "too_many_requests")) return null;
    throw error;
  }
}
