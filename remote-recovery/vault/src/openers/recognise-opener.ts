import { fromBase64url, type Keyring } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { copyOf, wipe, type Bytes } from "../seal/bytes.ts";
import { isSealedTo, deriveOpenerFromSeed, derivePasskeySeed, type RecognisedOpener } from "../seal/opener.ts";
import { parseRecoveryCode } from "../seal/recovery-code.ts";
import { isPresentedKey, type PresentedOpener, type PresentedKey } from "../rpc/presented-opener.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { KeyringView } from "../session/keyring-views.ts";
import { recogniseImage } from "./recognise-image.ts";

/**
 * Finds out which opener of the account is presented: a picture by its helper, a code or a passkey
 * by the slot that is sealed to it.
 *
 * @throws PortalError those of {@link recogniseImage}; `recovery_code_unreadable`,
 *   `not_this_recovery_code`, `not_this_passkey`; `decryption_failed` if no slot fits and one is
 *   broken
 */
export async function recogniseOpener(
  vault: VaultSession,
  presentedOpener: PresentedOpener,
  { keyring, openedKeyring }: KeyringView,
  options: OperationOptions,
): Promise<RecognisedOpener> {
  if (isPresentedKey(presentedOpener)) return recogniseKey(presentedOpener, keyring.slots);
  return { ...(await recogniseImage(vault, presentedOpener, openedKeyring?.book ?? null, options)), kind: "image" };
}

/**
 * Derives the 32-byte seed of a code or a passkey; the caller wipes it.
 * @throws PortalError `recovery_code_unreadable`, `passkey_without_prf`
 */
export function deriveKeySeed(presentedKey: PresentedKey): Bytes {
  return presentedKey.kind === "recovery_code"
    ? parseRecoveryCode(presentedKey.code)
    : derivePasskeySeed(copyOf(presentedKey.prf));
}

async function recogniseKey(presentedKey: PresentedKey, slots: Keyring["slots"]): Promise<RecognisedOpener> {
  const seed = deriveKeySeed(presentedKey);
  let slotError: PortalError | null = null;
  try {
    for (const { opener_id: openerId, kind, slot } of slots) {
      if (kind !== presentedKey.kind) continue;
      const opener = await deriveOpenerFromSeed(openerId, copyOf(seed));
      try {
        if (await isSealedTo(opener, fromBase64url(slot))) return { opener, kind, helperSha256: null, isPlain: false };
      } catch (error) {
        if (!isPortalError(error, "decryption_failed")) throw error;
        slotError = error; // another slot may be the right one
      }
      opener.wipe();
    }
  } finally {
    wipe(seed);
  }
  throw slotError ?? new PortalError(presentedKey.kind === "passkey" ? "not_this_passkey" : "not_this_recovery_code");
}
