import { deviceLinkMinutes, maxFileNameLength, toB64u } from "@relicario/shared/api";
import type { DeviceOffer } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { unlock } from "../acts/unlock.ts";
import { refuseCancelled } from "../cancelled.ts";
import {
  deviceCodeWords,
  deviceLinkId,
  newDeviceCode,
  openLinkAnswer,
  readDeviceCode,
  sealLinkRequest,
  type LinkAnswer,
} from "../seal/device-link.ts";
import { wipe, type Bytes } from "../seal/bytes.ts";
import { newId, timestamp } from "../seal/ids.ts";
import { openerFromSeed } from "../seal/opener.ts";
import { text } from "../seal/text.ts";
import type { ShownKey } from "../shown-image.ts";
import { check } from "../steps/check-request.ts";
import { seedOfKey } from "../steps/recognise-opener.ts";
import { isAnswerLost, sendUntilAnswered } from "../steps/until-answered.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";

/*
 * [Note: Another device]
 *
 * 1. The new device makes a passkey and a code, leaves a letter in the code's mailbox
 *    (`offerDevice`), shows the code, and waits.
 * 2. The device at hand is given the code, reads the letter (`admit.ts`), is shown something that
 *    opens the account, enters the new opener into book and keyring, seals the tickets to it as
 *    well, and answers with the newest state that it has verified.
 * 3. The new device reads the keyring: it has to be that state, or lead to it. Then its passkey
 *    unlocks it (`joinDevice`).
 *
 * No key travels. Whatever is lost on the way, both go on with the same code while it lasts; after
 * that the passkey unlocks as any other does, if it was entered.
 */

/** Milliseconds between two looks into the mailbox. */
const lookEvery = 2_000;

const Named = z.object({ name: text(maxFileNameLength) });

/**
 * Leaves what this device asks for in a mailbox of its own. Nothing is kept, and nothing of the
 * account changes.
 *
 * @throws PortalError `validation_error` for its name or kind, `passkey_without_prf`, and those of
 *   the call.
 */
export async function offerDevice(
  vault: VaultContext,
  { key, name }: { readonly key: ShownKey; readonly name: string },
  options: ActOptions = {},
): Promise<DeviceOffer> {
  check(Named, { name });
  if (key.kind !== "passkey") throw new PortalError("validation_error", { details: { fields: ["shown"] } });
  const opener = await openerFromSeed(newId(vault.now()), seedOfKey(key));
  const code = newDeviceCode();
  try {
    refuseCancelled(options.signal);
    const expiresAt = timestamp(vault.now() + deviceLinkMinutes * 60_000);
    const asked = {
      id: opener.openerId,
      kind: key.kind,
      name,
      recipient: opener.recipient,
      slot_auth: toB64u(opener.slotAuth),
    };
    const message = await sealLinkRequest(code, { v: 1, user_id: vault.userId, opener: asked });
    await sendUntilAnswered(vault.pause, () => vault.service.deviceLinks.fill(deviceLinkId(code), message));
    return { words: deviceCodeWords(code), expiresAt };
  } finally {
    opener.forget();
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
  vault: VaultContext,
  offer: DeviceOffer,
  key: ShownKey,
  options: ActOptions = {},
): Promise<void> {
  const code = readDeviceCode(offer.words.join(" "));
  try {
    const { state_rev: stateRev, state_sha256: stateSha256 } = await answerTo(
      vault,
      code,
      Date.parse(offer.expiresAt),
      options.signal,
    );
    const { opener } = await unlock(vault, key, options, { stateRev, stateSha256 });
    opener.forget();
  } finally {
    wipe(code);
  }
}

async function answerTo(
  vault: VaultContext,
  code: Bytes,
  until: number,
  signal: AbortSignal | undefined,
): Promise<LinkAnswer> {
  for (;;) {
    refuseCancelled(signal);
    const answer = await look(vault, deviceLinkId(code), signal);
    if (answer !== null) return openLinkAnswer(code, vault.userId, answer);
    if (vault.now() >= until) throw new PortalError("device_link_expired");
    await vault.pause(lookEvery, signal);
  }
}

/** A look that got lost is made again, as long as there is time. */
async function look(vault: VaultContext, id: string, signal: AbortSignal | undefined): Promise<string | null> {
  try {
    return await vault.service.deviceLinks.readAnswer(id, signal);
  } catch (error) {
    if (isPortalError(error, "not_found")) throw new PortalError("device_link_expired", { cause: error });
    if (isAnswerLost(error) || isPortalError(error, "too_many_requests")) return null;
    throw error;
  }
}
