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
 * 1. The new device makes a passkey and a code, leaves a letter in the code's mailbox
 *    (`offerDevice`), shows the code, and waits.
 * 2. The device at hand is given the code, reads the letter (`admit-device.ts`), is shown something
 *    that opens the account, enters the new opener into book and keyring, seals the tickets to it
 *    as well, and answers with the newest state that it has verified.
 * 3. The new device reads the keyring: it has to be that state, or lead to it. Then its passkey
 *    unlocks it (`joinDevice`).
 *
 * No key travels. Whatever is lost on the way, both go on with the same code while it lasts; after
 * that the passkey unlocks as any other does, if it was entered.
 */

/** Milliseconds between two looks into the mailbox. */
const pollInterval = 2_000;

const OfferInput = z.object({ name: nonEmptyText(maxFileNameLength) });

/**
 * Leaves what this device asks for in a mailbox of its own. Nothing is kept, and nothing of the
 * account changes.
 *
 * @throws PortalError `validation_error` for its name or kind, `passkey_without_prf`, and those of
 *   the call.
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
 * Waits until the device at hand has answered, and unlocks with the passkey that was offered. What
 * the service shows has to lead to the state that the other device vouches for.
 *
 * @throws PortalError `device_link_expired`, `histories_differ`, `decryption_failed` for an answer
 *   that is none, `cancelled`, and those of {@link unlock}. After all of them but the first the
 *   same offer may be waited for once more.
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
    await vault.pause(pollInterval, signal);
  }
}

/** A look that got lost is made again, as long as there is time. */
async function pollAnswer(vault: VaultSession, id: string, signal: AbortSignal | undefined): Promise<string | null> {
  try {
    return await vault.service.deviceLinks.readAnswer(id, signal);
  } catch (error) {
    if (isPortalError(error, "not_found")) throw new PortalError("device_link_expired", { cause: error });
    if (isResponseLost(error) || isPortalError(error, "too_many_requests")) return null;
    throw error;
  }
}
