import { fromBase64url, type Keyring, type OpenerKind } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { copyOf, wipe, type Bytes } from "../seal/bytes.ts";
import { isSealedTo, deriveOpenerFromSeed, derivePasskeySeed, type OpenerKeys } from "../seal/opener.ts";
import { parseRecoveryCode } from "../seal/recovery-code.ts";
import { isPresentedKey, type PresentedOpener, type PresentedKey } from "../rpc/presented-opener.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { KeyringView } from "../session/keyring-views.ts";
import { recogniseImage } from "./recognise-image.ts";

/** An opener that was shown now, and found among those of the account. */
export interface RecognisedOpener {
  readonly opener: OpenerKeys;
  readonly kind: OpenerKind;
  /**
   * Of the helper that recognised an image (base64url): it must be the book's. Null of other kinds.
   */
  readonly helperSha256: string | null;
}

/**
 * Finds which opener of the account is shown: a picture by its helper, a code or a passkey by the
 * slot that is sealed to it.
 *
 * @throws PortalError those of {@link recogniseImage}; `recovery_code_unreadable`,
 *   `not_this_recovery_code`, `not_this_passkey`, `decryption_failed` when no slot fits and one is
 *   broken.
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
 * The 32-byte seed of what is shown. Wipe it. @throws PortalError `recovery_code_unreadable`,
 * `passkey_without_prf`.
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
        if (await isSealedTo(opener, fromBase64url(slot))) return { opener, kind, helperSha256: null };
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
