import type { CallOptions, OpenerHandle } from "./contents.ts";
import type { ResealedSecrets } from "./openers.ts";

/**
 * Adds a new device with the help of an unlocked one. The new device is signed in and locked: it
 * creates a passkey, shows a code and waits. The person enters the code on the unlocked device,
 * which makes the passkey an opener of the account. No key is transferred.
 */
export interface VaultDeviceLinks {
  /**
   * On the new device: deposits a sealed request to add the passkey, and returns the code to show.
   * `passkey.handle` is a presented passkey. Changes nothing in the account. Fails with
   * `passkey_without_prf`, or with `validation_error` for the passkey's name.
   */
  readonly offer: (
    passkey: { readonly handle: OpenerHandle; readonly name: string },
    options?: CallOptions,
  ) => Promise<DeviceOffer>;

  /**
   * On the new device: waits until the other device approves, then unlocks with the same passkey.
   *
   * Fails with `device_link_expired`, `decryption_failed`, `not_this_passkey`, and with
   * `histories_differ` if the service showed the two devices different histories of the account.
   * After any failure but `device_link_expired` the same offer can be joined again.
   */
  readonly join: (offer: DeviceOffer, passkey: OpenerHandle, options?: CallOptions) => Promise<void>;

  /**
   * On the unlocked device: describes the device that shows this code. Changes nothing.
   *
   * Fails with `device_code_unreadable`, `device_link_unavailable`, `device_link_own`,
   * `decryption_failed`, `vault_locked`. The details of `device_code_unreadable` are `words`, the
   * number of words, or `unknown`, the positions from 1 of words that are not in the list.
   */
  readonly inspect: (code: string, options?: CallOptions) => Promise<RequestingDevice>;

  /**
   * On the unlocked device: makes the new device's passkey an opener, and re-seals to it every
   * secret that `opener` opens. `progress` counts secrets. Completed work stays after an abort or
   * an error. Until the code expires, the same call continues the work.
   *
   * Fails as {@link inspect} does, and with `id_taken`, `limit_reached`.
   */
  readonly approve: (code: string, opener: OpenerHandle, options?: CallOptions) => Promise<ApprovedDevice>;
}

/**
 * A code to show, and its expiry. Keep the code secret: any session of the account that has it can
 * send a request in place of this device.
 */
export interface DeviceOffer {
  /** 12 words of the English BIP-39 list. A QR code contains them separated by spaces. */
  readonly words: readonly string[];
  /** RFC 3339, by the clock of this device. */
  readonly expiresAt: string;
}

export interface RequestingDevice {
  /** Name that the new device gave itself. */
  readonly name: string;
  /** Number of secrets that the new device would be able to open. */
  readonly secretCount: number;
}

export interface ApprovedDevice extends ResealedSecrets {
  /** False if the new device no longer waits. Its passkey can unlock anyway. */
  readonly notified: boolean;
}
