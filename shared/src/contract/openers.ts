import type { CallOptions, OpenerHandle } from "./contents.ts";

/**
 * Openers of the account: pictures, printed recovery codes and passkeys.
 *
 * Operations take an opener that opens the account now. Null suffices if an opener was presented
 * since the last load or lock; otherwise they fail with `show_opener_first`.
 */
export interface VaultOpeners {
  /**
   * Lists openers and the secrets that each one opens. Needs an unlocked device, but no opener.
   * Fails with `vault_locked`, `list_mismatch`, `older_state`.
   */
  readonly list: (options?: CallOptions) => Promise<OpenersOverview>;

  /**
   * Makes a presented code or passkey an opener of the account. It then unlocks the account, and
   * opens the secrets that are protected from now on. {@link resealForAllOpeners} re-seals earlier
   * secrets. Idempotent.
   *
   * Fails with `recovery_code_unreadable`, `passkey_without_prf`, `limit_reached` with 32 openers,
   * `no_keyring`, `state_conflict`.
   */
  readonly add: (
    newOpener: { readonly handle: OpenerHandle; readonly name: string },
    opener: OpenerHandle | null,
    options?: CallOptions,
  ) => Promise<{ readonly openerId: string }>;

  /**
   * Re-seals every secret that this opener opens to all openers of the account, one secret after
   * another. `progress` counts secrets. After an abort, an error or a closed tab the next call
   * continues. Does not re-seal former versions.
   */
  readonly resealForAllOpeners: (opener: OpenerHandle, options?: CallOptions) => Promise<ResealedSecrets>;

  /**
   * Removes an opener, first from the secrets that `opener` also opens, then from the account. The
   * removed opener still opens former versions, and sealed copies made earlier.
   *
   * Secrets that only the removed opener opens would be lost. Then the call fails with
   * `last_opener` (details: `secrets`, their number), unless `acceptedLosses` lists exactly their
   * ids. For the account's last picture it fails with `last_opener` without `secrets`.
   */
  readonly remove: (
    openerId: string,
    opener: OpenerHandle,
    options?: CallOptions & { readonly acceptedLosses?: readonly string[] },
  ) => Promise<void>;

  /** Finds the id of the presented opener. Changes nothing. Fails as {@link Vault.unlock} does. */
  readonly recognise: (opener: OpenerHandle, options?: CallOptions) => Promise<{ readonly openerId: string }>;

  /**
   * Replaces the account key after the loss of a device, whose stored keys then open nothing new.
   * Presented openers stay; one of them must be a picture. All other openers are removed from
   * account and secrets. `progress` counts secrets.
   *
   * Atomic: after an abort, an error or a closed tab the account is unchanged. Only if the last
   * response was lost, it may be fully changed. Fails with `last_opener` as {@link remove} does,
   * and with `publication_not_seen`, `list_mismatch`, `state_conflict`.
   */
  readonly rotate: (
    openers: readonly OpenerHandle[],
    options?: CallOptions & { readonly acceptedLosses?: readonly string[] },
  ) => Promise<RotationResult>;

  /**
   * Replaces the presented picture by another one, or only its passphrase. If only the passphrase
   * changes, copies of the picture still open. Atomic, like {@link rotate}.
   *
   * Secrets that the old picture opens are re-sealed to the new one, including former versions.
   * Contents up to 1 MiB get a new content identity, which ends their shares. The old picture and
   * passphrase still open sealed copies made earlier.
   *
   * Fails with `opener_needed`, `picture_resembles_another`, `picture_needs_passphrase`,
   * `passphrase_too_weak`, `picture_too_plain`, `openers_changed`.
   *
   * @param replacement the new picture, presented with its new passphrase
   */
  readonly replaceImage: (
    opener: OpenerHandle,
    replacement: { readonly handle: OpenerHandle; readonly name: string },
    options?: CallOptions,
  ) => Promise<{ readonly openerId: string }>;
}

export type OpenerKind = "image" | "recovery_code" | "passkey";

/** The same 32 bytes in two notations, for printing. Secret. */
export interface RecoveryCode {
  /** 24 words of the English BIP-39 list. */
  readonly words: readonly string[];
  /** For a QR code: `AGE-SECRET-KEY-PQ-1…`. */
  readonly identity: string;
}

export interface OpenersOverview {
  /** In the order in which they were added. */
  readonly openers: readonly AccountOpener[];
  /** Newest first. Includes the trash while its contents exist. */
  readonly secrets: readonly SecretOpeners[];
}

export interface AccountOpener {
  readonly id: string;
  readonly kind: OpenerKind;
  readonly name: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** When a copy check last proved that it opens a secret (RFC 3339), or null. */
  readonly copyCheckedAt: string | null;
  /** Number of secrets that it opens. */
  readonly secretCount: number;
  /** Ids of secrets that no other opener opens. */
  readonly soleOpenerOf: readonly string[];
  /** False if the service does not return the opener's slot. The opener then unlocks nothing. */
  readonly hasSlot: boolean;
}

export interface SecretOpeners {
  readonly secretId: string;
  readonly title: string;
  /** Ids of the account's openers that open the secret. */
  readonly openerIds: readonly string[];
  /** Ids of the account's openers that do not open the secret. */
  readonly missingOpenerIds: readonly string[];
  /**
   * Date of the last copy check with any of the openers that open the secret (RFC 3339), or null.
   */
  readonly copyCheckedAt: string | null;
}

export interface ResealedSecrets {
  /** Number of secrets that were re-sealed. */
  readonly resealedCount: number;
  /** Ids of secrets that this opener does not open, or that no key of this account signed. */
  readonly skippedIds: readonly string[];
}

export interface RotationResult {
  /** Ids of the openers that were not presented and were removed. */
  readonly removedOpenerIds: readonly string[];
  /** Titles of unanswered requests; their links no longer work. */
  readonly revokedRequestTitles: readonly string[];
}
