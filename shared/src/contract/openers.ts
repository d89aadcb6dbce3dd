import type { CallOptions, OpenerHandle } from "./contents.ts";

/**
 * What can open the account's secrets: images, printed recovery codes, passkeys. Each act on them
 * takes an opener that opens today, or null where one was shown since load or lock
 * (`show_opener_first` otherwise). Codes and passkeys that are shown are handles, as pictures are.
 */
export interface VaultOpeners {
  /**
   * What opens what today. Takes an unlocked device, no opener. `vault_locked`, `list_mismatch`,
   * `older_state`.
   */
  readonly list: (options?: CallOptions) => Promise<OpenersOverview>;

  /** A new code, which opens nothing before {@link add}. It is given once and kept nowhere. */
  readonly generateRecoveryCode: () => Promise<RecoveryCode>;

  /**
   * Makes a code or a passkey, which is shown, an opener of the account: it unlocks, and opens what
   * is protected from now on. What was protected before is for {@link resealForAllOpeners}. Adding
   * the same once more changes nothing. `recovery_code_unreadable`, `passkey_without_prf`,
   * `limit_reached` with 32 openers, `no_keyring`, `state_conflict`.
   */
  readonly add: (
    newOpener: { readonly handle: OpenerHandle; readonly name: string },
    opener: OpenerHandle | null,
    options?: CallOptions,
  ) => Promise<{ readonly openerId: string }>;

  /**
   * Seals every secret that this opener opens to all openers of the account, one after another.
   * What is done stays done: after an abort, an error or a closed tab the next call goes on. Former
   * versions stay as they are. `progress` counts secrets.
   */
  readonly resealForAllOpeners: (opener: OpenerHandle, options?: CallOptions) => Promise<ResealedSecrets>;

  /**
   * Takes an opener away: first from the secrets that `opener` opens as well, then from the
   * account. Secrets that nothing else opens are lost by it: `last_opener` (`secrets` says how
   * many) unless `acceptedLosses` names exactly them. `last_opener` without `secrets` for the last
   * picture of the account. Copies made before, and former versions, stay openable by whoever has
   * it.
   */
  readonly remove: (
    openerId: string,
    opener: OpenerHandle,
    options?: CallOptions & { readonly acceptedLosses?: readonly string[] },
  ) => Promise<void>;

  /** Which opener of the account is shown, by its id. Nothing changes. As {@link Vault.unlock}. */
  readonly recognise: (opener: OpenerHandle, options?: CallOptions) => Promise<{ readonly openerId: string }>;

  /**
   * A new account key, after a device was lost: what was kept there opens nothing new. The openers
   * shown stay, all others go from account and secrets; a picture has to be among them. All or
   * nothing: after an abort, an error or a closed tab everything is as it was before or, where the
   * last answer was lost, as it is afterwards. `last_opener` as with {@link remove};
   * `publication_not_seen`, `list_mismatch`, `state_conflict`. `progress` counts secrets.
   */
  readonly rotate: (
    openers: readonly OpenerHandle[],
    options?: CallOptions & { readonly acceptedLosses?: readonly string[] },
  ) => Promise<RotationResult>;

  /**
   * Puts another image in the place of the one shown: the same picture with another passphrase or
   * none, whose copies go on to open, or another picture. Secrets that it opens are sealed to the
   * new one, former versions too, and contents up to 256 KiB take another key; shares of those end.
   * All or nothing, as with {@link rotate}. Copies made before stay openable by the image as it
   * was. `opener_needed`, `picture_resembles_another`, `picture_needs_passphrase`,
   * `picture_too_plain`, `openers_changed`.
   *
   * @param replacement a picture with the passphrase that it is to have
   */
  readonly replaceImage: (
    opener: OpenerHandle,
    replacement: { readonly handle: OpenerHandle; readonly name: string },
    options?: CallOptions,
  ) => Promise<{ readonly openerId: string }>;
}

export type OpenerKind = "image" | "recovery_code" | "passkey";

/** The same 32 bytes twice, to be printed. A secret. */
export interface RecoveryCode {
  /** 24 words of the English BIP-39 list. */
  readonly words: readonly string[];
  /** For a QR code: `AGE-SECRET-KEY-PQ-1…`. */
  readonly identity: string;
}

export interface OpenersOverview {
  /** In the order in which they were added. */
  readonly openers: readonly AccountOpener[];
  /** Newest first; the trash, as long as its contents are there, included. */
  readonly secrets: readonly SecretOpeners[];
}

export interface AccountOpener {
  readonly id: string;
  readonly kind: OpenerKind;
  readonly name: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** When it was last proved to open one of the secrets. RFC 3339; null when it never was. */
  readonly copyCheckedAt: string | null;
  /** How many secrets it opens. */
  readonly secretCount: number;
  /** Ids of those that nothing else opens. */
  readonly soleOpenerOf: readonly string[];
  /** False when the service does not give its slot: then it unlocks nothing. */
  readonly hasSlot: boolean;
}

export interface SecretOpeners {
  readonly secretId: string;
  readonly title: string;
  /** Ids of the account's openers that open it. */
  readonly openers: readonly string[];
  /** Ids of those that do not. */
  readonly missing: readonly string[];
  /** The newest rehearsal, with any of them. RFC 3339; null when it was never rehearsed. */
  readonly copyCheckedAt: string | null;
}

export interface ResealedSecrets {
  /** How many were sealed anew. */
  readonly resealed: number;
  /** Ids of those that this opener does not open, or that no key of this account signed. */
  readonly skipped: readonly string[];
}

export interface RotationResult {
  /** Ids of openers that were not shown and went. */
  readonly removedOpenerIds: readonly string[];
  /** Titles of requests that waited for an answer. Their links are over. */
  readonly revokedRequestTitles: readonly string[];
}
