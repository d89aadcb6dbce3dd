import type { CallOptions, OpenerHandle } from "./contents.ts";
import type { ResealedSecrets } from "./openers.ts";

/**
 * Another device by a device at hand. The new one, signed in and locked, makes a passkey, offers it
 * under a code and waits; the one at hand takes the code and makes the passkey an opener of the
 * account. No key travels.
 */
export interface VaultDeviceLinks {
  /**
   * On the new device: leaves what a passkey, which is shown, gives to be entered, and gives the
   * code to show. Nothing of the account changes. `passkey_without_prf`, `validation_error` for its
   * name.
   */
  readonly offer: (
    passkey: { readonly handle: OpenerHandle; readonly name: string },
    options?: CallOptions,
  ) => Promise<DeviceOffer>;

  /**
   * On the new device: waits for the device at hand, and unlocks with the same passkey.
   * `device_link_expired`; `histories_differ` when the two were shown different histories of the
   * account; `decryption_failed`, `not_this_passkey`. But for the first the same offer can be
   * waited for again.
   */
  readonly join: (offer: DeviceOffer, shown: OpenerHandle, options?: CallOptions) => Promise<void>;

  /**
   * On the device at hand: who shows this code. Changes nothing. `device_code_unreadable` (`words`
   * says how many there were, `unknown` which of them, from 1, are not in the list),
   * `device_link_unavailable`, `device_link_own`, `decryption_failed`, `vault_locked`.
   */
  readonly inspect: (code: string, options?: CallOptions) => Promise<RequestingDevice>;

  /**
   * On the device at hand: makes the new device's passkey an opener, and seals to it every secret
   * that `opener` opens. What is done stays done; the same code goes on while it lasts. As {@link
   * look}, `id_taken`, `limit_reached`. `progress` counts secrets.
   */
  readonly approve: (code: string, opener: OpenerHandle, options?: CallOptions) => Promise<ApprovedDevice>;
}

/**
 * A code to show, and until when. A secret: whoever has it and a session of the account can ask in
 * this device's place.
 */
export interface DeviceOffer {
  /** 12 words of the English BIP-39 list; a QR code holds them with spaces between. */
  readonly words: readonly string[];
  /** RFC 3339, by the clock of this device. */
  readonly expiresAt: string;
}

export interface RequestingDevice {
  /** What the new device calls itself. */
  readonly name: string;
  /** How many secrets it would open. */
  readonly secretCount: number;
}

export interface ApprovedDevice extends ResealedSecrets {
  /** Whether the new device was told: false when it no longer waits. */
  readonly notified: boolean;
}
