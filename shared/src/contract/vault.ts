import type { ComponentType } from "react";

import type { PortalError } from "../errors/index.ts";
import type {
  CallOptions,
  ContentKind,
  PictureFieldProps,
  OpenedHandle,
  OpenedSecret,
  RecoveryImage,
  OpenerHandle,
} from "./contents.ts";
import type { VaultDeviceLinks } from "./device-links.ts";
import type { VaultImports } from "./imports.ts";
import type { VaultOpeners } from "./openers.ts";
import type { VaultAccountReset } from "./account-reset.ts";
import type { VaultPeople, VaultReceived, VaultRequests, VaultShares } from "./sharing.ts";

/**
 * Seals and opens secrets. The recovery remote provides it, in a worker: keys, identities and image
 * secrets never reach the page. The vault makes every call that carries sealed bytes, verifies the
 * responses, and retries after conflicts.
 *
 * Errors are PortalErrors. Each member lists its own codes, in addition to those of every call.
 */
export interface Vault {
  /** Returns the current state, which is the same object until something changes. */
  readonly getState: () => VaultState;
  /** Calls `listener` after each change of {@link getState}. Returns an unsubscribe function. */
  readonly subscribe: (listener: () => void) => () => void;

  /**
   * Reads the keyring and returns the state. Fails with `keyring_missing`, `older_state`,
   * `own_key_changed`.
   */
  readonly refresh: () => Promise<VaultState>;

  /**
   * Lists all rows, including the trash. `label` is null while locked. Verifies count, root and
   * versions with the signed state. With `onRows` rows also arrive in batches, newest first, while
   * the remaining rows are opened.
   *
   * Fails with `list_mismatch`, `older_state`.
   */
  readonly list: (options?: ListOptions) => Promise<readonly SecretRow[]>;

  /**
   * Lists the pictures that open something in the account, without thumbnails, sorted by name.
   * Empty while locked.
   */
  readonly listImages: () => Promise<readonly RecoveryImage[]>;

  /**
   * Seals a secret and publishes it. Atomic. The first secret also creates the account key and its
   * documents, in the same call. The content may have up to 5 GiB.
   *
   * A content that is too large for one call is uploaded in parts. {@link listUploads} lists it
   * until it is published. While the vault is locked, sealing and sending continue, but publishing
   * waits until the vault is unlocked. Aborting deletes the parts that were sent.
   *
   * Fails with `picture_too_plain`, `picture_needs_passphrase`, `passphrase_too_weak` (below
   * `requiredStrength` if the picture needs one, else below `chosenStrength`),
   * `picture_resembles_another`, `vault_locked`, `opener_needed`, `payload_too_large`,
   * `quota_exceeded`, and `state_conflict` after eight tries. If the picture is already an opener
   * with another passphrase: `not_this_picture_or_passphrase`, `picture_has_no_passphrase`.
   */
  readonly protect: (
    request: NewSecretInput,
    options?: CallOptions,
  ) => Promise<{ readonly secretId: string; readonly version: number }>;

  /**
   * Seals a content that the vault or a visitor of this tab has opened, as a new secret under the
   * content's own name and kind. Fails with the codes of {@link protect}, and with `vault_locked`
   * for a content that was disposed of.
   */
  readonly protectOpened: (
    opened: OpenedHandle,
    secret: Pick<NewSecretInput, "title" | "tags" | "protection">,
    options?: CallOptions,
  ) => Promise<{ readonly secretId: string; readonly version: number }>;

  /**
   * Changes a secret. A change of only title and tags needs no opener and creates no version. A new
   * content creates a version, sealed to `protection` or, without it, to the secret's openers that
   * are still in the book. It fails with `show_opener_first` if no opener was presented since the
   * last load or lock.
   *
   * Fails with the codes of {@link protect}, and with `not_found`; `version_conflict` (details:
   * `version`) if another device saved first; `too_many_versions`. After `version_conflict` nothing
   * has changed, and the caller keeps the edit. `too_many_versions`: no former version is old
   * enough to be dropped; {@link removeVersions} makes room. It occurs before a large content is
   * sent.
   */
  readonly update: (
    secretId: string,
    change: SecretChange,
    options?: CallOptions,
  ) => Promise<{ readonly version: number }>;

  /**
   * Returns number and eight words of this device's history, so that the person can compare two
   * devices at the lower of their numbers. Null for the newest. Needs no opener. Fails with
   * `not_found` for a later number or one that the history does not reach; `vault_locked`,
   * `no_keyring`.
   */
  readonly getHistory: (stateRev: number | null, options?: CallOptions) => Promise<HistoryWords>;

  /**
   * Lists all versions, even dropped ones, newest first. {@link openSecret} opens one of them.
   * Needs no opener. An unlocked device verifies the list with the label; a locked device does not
   * verify it.
   *
   * Fails with `not_found`, `list_mismatch`.
   */
  readonly listVersions: (secretId: string, options?: CallOptions) => Promise<readonly SecretVersion[]>;

  /**
   * Publishes the content of an older version as a new version. Title and tags stay. Null uses the
   * opener that is kept open. Fails with the codes of {@link update} and {@link openSecret}, and
   * with `decryption_failed` for a version that no key of this account signed.
   */
  readonly restoreVersion: (
    secretId: string,
    version: number,
    opener: OpenerHandle | null,
    options?: CallOptions,
  ) => Promise<{ readonly version: number }>;

  /**
   * Removes former versions of a secret for good, by one signed change. {@link listVersions} still
   * lists them, as dropped. Fails with `not_found` for a version that cannot be removed,
   * `show_opener_first`, `vault_locked`, `list_mismatch`, `state_conflict`.
   */
  readonly removeVersions: (secretId: string, versions: readonly number[], options?: CallOptions) => Promise<void>;

  /**
   * Removes secrets for good, all or none, by one signed change. Fails with `not_in_trash` if one
   * of them is not in the trash, `show_opener_first`, `vault_locked`, `not_found`,
   * `state_conflict`.
   */
  readonly purge: (secretIds: readonly string[], options?: CallOptions) => Promise<void>;

  /**
   * Lists this device's unpublished uploads, oldest first: those that run, wait, or were left by a
   * closed tab.
   */
  readonly listUploads: () => Promise<readonly PendingUpload[]>;

  /**
   * Continues an upload and publishes it. `file` is null unless {@link PendingUpload.needsFile} is
   * set; then it is the same file, chosen again.
   *
   * Fails with `file_changed` for another file, before anything is sent; `vault_locked` if only
   * publishing is left; `conflict` while another tab sends the upload; `not_found`; `opener_needed`
   * and `show_opener_first`. After the last two codes the parts that were sent stay; call again
   * with a picture as `protection`, or after {@link unlock}. With a picture it also fails with
   * `picture_needed` and the codes of {@link protect}.
   */
  readonly resumeUpload: (
    uploadId: string,
    file: Blob | null,
    options?: ResumeOptions,
  ) => Promise<{ readonly secretId: string; readonly version: number }>;

  /**
   * Restarts an upload after `file_changed` or `upload_dropped`, with a file that may be another
   * one. Parts sent earlier are not used. If the upload turns out to be published, the call sends
   * nothing and returns the published version.
   *
   * Fails with `vault_locked`, `not_found`, `version_conflict`, `quota_exceeded`.
   */
  readonly restartUpload: (
    uploadId: string,
    file: Blob,
    options?: CallOptions,
  ) => Promise<{ readonly secretId: string; readonly version: number }>;

  /** Discards an upload on this device and at the service. Idempotent. */
  readonly discardUpload: (uploadId: string) => Promise<void>;

  /**
   * Unlocks with a picture, a recovery code or a passkey. Fails with `not_this_picture`,
   * `not_this_picture_or_passphrase`, `plain_helper_refused`, `recovery_code_unreadable`,
   * `not_this_recovery_code`, `not_this_passkey`, `no_keyring`.
   */
  readonly unlock: (opener: OpenerHandle, options?: CallOptions) => Promise<void>;

  /**
   * Unlocks a person's own device by a new sign-in in a window of the identity provider; a click is
   * not enough. Call it from a click, or the browser blocks the window.
   *
   * Fails with `opener_needed` if this device stores no key (a shared computer, or a device with a
   * passkey), `login_required` if the sign-in is older than the lock, `cancelled`, `no_keyring`.
   */
  readonly unlockBySignIn: () => Promise<void>;

  /**
   * Opens a secret, and unlocks a locked device with the same opener. Content always needs an
   * opener, although an unlocked device can read titles without one. With `version` it opens an
   * older version, whose `current` is false. Null uses the opener that is kept open.
   *
   * Fails with `not_found`, `show_opener_first` if none is kept that opens it, `opener_needed` if
   * this opener does not open the secret, `content_gone` for a dropped version.
   */
  readonly openSecret: (
    secretId: string,
    opener: OpenerHandle | null,
    options?: OpenSecretOptions,
  ) => Promise<OpenedSecret>;

  /**
   * Opens a text, seed phrase or record for a form that edits it. The only operation that gives
   * plaintext to the page: {@link openSecret} shows a content without it.
   *
   * Fails with the codes of {@link openSecret}, and with `payload_too_large` for any other content.
   */
  readonly openText: (secretId: string, opener: OpenerHandle | null, options?: CallOptions) => Promise<string>;

  /**
   * Verifies that a copy of the picture still opens a secret, without returning any of its content.
   * Saves the date in the secret's label. Unlocks a locked device. Opens a content completely if it
   * fits one call; of a larger content it verifies only the key.
   *
   * Fails with the codes of {@link openSecret}, and with `state_conflict` after eight tries.
   */
  readonly checkCopy: (
    secretId: string,
    handle: OpenerHandle,
    options?: CallOptions,
  ) => Promise<{ readonly copyCheckedAt: string }>;

  /**
   * Writes an archive of sealed secrets that standard `age` opens without this portal. Skips
   * secrets that the opener does not open, and lists them. Returns nothing before every content
   * matches its digest.
   *
   * Fails with the codes of {@link openSecret}, and with `opener_needed` if it opens none of the
   * secrets, `not_found`, `list_mismatch`, `decryption_failed`, `storage_full`, `cancelled`,
   * `vault_locked` after a lock.
   */
  readonly exportSecrets: (
    secretIds: readonly string[],
    opener: OpenerHandle,
    options?: CallOptions,
  ) => Promise<ExportedSecrets>;

  /**
   * Creates an HTML file that opens these secrets with their picture, offline and without this
   * portal. Saves the kit in the secrets' labels. Skips secrets that the picture does not open, and
   * lists them. Contents over 1 MiB become sealed attachments. Returns nothing before the labels
   * are published, so that {@link SecretLabel.kits} lists every kit.
   *
   * Fails with the codes of {@link exportSecrets} and {@link update}, and with `validation_error`
   * for more than 64 secrets or a note that is too long.
   */
  readonly createKit: (secretIds: readonly string[], opener: OpenerHandle, options?: KitOptions) => Promise<CreatedKit>;

  /**
   * Saves whether this device is the person's own or a shared computer. Asked once after the first
   * unlock. `keysSaved`: whether the device can read titles at the next visit. It is false on an
   * own device whose browser cannot store a signing key (no Ed25519).
   */
  readonly setDeviceKind: (kind: DeviceKind) => Promise<{ readonly keysSaved: boolean }>;

  readonly setFavorite: (secretId: string, favorite: boolean) => Promise<void>;
  /**
   * Moves a secret to the trash. The 30 days begin at once if an opener was presented since the
   * last load or lock, otherwise with {@link confirmTrash}.
   */
  readonly trash: (secretId: string) => Promise<void>;
  /**
   * Begins the 30 days of secrets in the trash, by one signed change. Fails with
   * `show_opener_first`, `vault_locked`, `state_conflict`. Idempotent.
   */
  readonly confirmTrash: (secretIds: readonly string[], options?: CallOptions) => Promise<void>;
  readonly restore: (secretId: string) => Promise<void>;

  /**
   * Wipes keys and plaintext by terminating the worker, in every tab of this account. Waiting
   * uploads stay, sealed.
   */
  readonly lock: () => Promise<void>;

  /**
   * Locks after a time without keyboard, touch or pointer input in any tab. The time is stored on
   * the device.
   */
  readonly autoLock: AutoLock;

  /** How long a presented opener serves further openings and shares. Stored on the device. */
  readonly keepOpen: KeepOpen;

  /**
   * Ends all operations that use keys, plaintext or uploads. The host wipes the data that the
   * device stores. The vault cannot be used afterwards.
   */
  readonly signOut: () => Promise<void>;

  /**
   * Accepts the state that this `older_state` error reported, although it is older than the last
   * state that this device knows. Call it only when the person explicitly chooses so. Fails with
   * `older_state` if the service by then returns another state.
   */
  readonly acceptOlderState: (error: PortalError) => Promise<void>;

  /**
   * Archives this device's record of the account after `device_record_unreadable`. The device then
   * starts like a new one, which cannot detect an older state.
   */
  readonly archiveDeviceRecord: () => Promise<void>;

  readonly imports: VaultImports;
  readonly openers: VaultOpeners;
  readonly accountReset: VaultAccountReset;
  readonly deviceLinks: VaultDeviceLinks;
  readonly shares: VaultShares;
  readonly people: VaultPeople;
  readonly received: VaultReceived;
  readonly requests: VaultRequests;

  /** Form field that takes a picture, tests it and asks for its passphrase. */
  readonly PictureField: ComponentType<PictureFieldProps>;

  /**
   * Releases a presented opener. Call it when its form closes. A lock releases all openers.
   * Idempotent.
   */
  readonly releaseOpener: (handle: OpenerHandle) => void;
}

/**
 * `empty`: the account has no keyring. `locked`: there is a keyring, but this device does not have
 * its key. `unlocked`: titles are readable. `device` is null until the person has said whose device
 * this is.
 */
export type VaultState =
  | { readonly status: "unknown" }
  | { readonly status: "empty" }
  | { readonly status: "locked" }
  | { readonly status: "unlocked"; readonly device: DeviceKind | null };

export type DeviceKind = "own" | "shared";

/** Words of the English BIP-39 list. */
export interface HistoryWords {
  readonly stateRev: number;
  readonly words: readonly string[];
}

/** Receives the rows of one batch. `progress` counts rows. */
export type RowsListener = (
  rows: readonly SecretRow[],
  progress: { readonly opened: number; readonly total: number },
) => void;

export interface ListOptions extends CallOptions {
  readonly onRows?: RowsListener;
}

export interface OpenSecretOptions extends CallOptions {
  /** Number of an older version in {@link Vault.listVersions}. */
  readonly version?: number;
}

export interface KitOptions extends CallOptions {
  /** Printed on the kit as plain text, up to 200 characters. */
  readonly note?: string;
}

export interface ResumeOptions extends CallOptions {
  /**
   * Set after `opener_needed` or `show_opener_first`: the picture that protects the published
   * content.
   */
  readonly protection?: NewSecretInput["protection"];
}

/** Number of minutes without input after which the vault locks. */
export interface AutoLock {
  /** 15 by default. */
  readonly get: () => number;
  /**
   * Takes whole minutes within {@link autoLockMinutes}.
   * @throws PortalError `validation_error` for other values
   */
  readonly set: (minutes: number) => void;
}

export const autoLockMinutes = { minimum: 1, maximum: 240, default: 15 } as const;

export const keepOpenDurations = ["every_time", "five_minutes", "until_lock"] as const;
export type KeepOpenDuration = (typeof keepOpenDurations)[number];

export interface KeepOpen {
  /** `five_minutes` by default. */
  readonly get: () => KeepOpenDuration;
  /** Ends what is kept open now in this tab. */
  readonly set: (duration: KeepOpenDuration) => void;
  readonly getStatus: () => KeepOpenStatus;
}

export const keepOpenStatuses = ["none", "open", "time_over", "locked", "setting_changed"] as const;

/**
 * `open`: an opener is kept open now, and operations that take null use it. `none`: this tab has
 * kept none, or the last one was presented for every time. Otherwise why the last one is no longer
 * kept.
 */
export type KeepOpenStatus = (typeof keepOpenStatuses)[number];

export interface SecretRow {
  readonly secretId: string;
  readonly version: number;
  /** Increases with every change of title, tags or content; see {@link SecretChange.baseRev}. */
  readonly rev: number;
  readonly favorite: boolean;
  /** Bytes of the sealed content. */
  readonly sealedSize: number;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When it was moved to the trash (RFC 3339), or null. */
  readonly deletedAt: string | null;
  /**
   * When its 30 days in the trash began (RFC 3339). Null if it is not in the trash, or stays there
   * until {@link Vault.confirmTrash}.
   */
  readonly trashConfirmedAt: string | null;
  /**
   * When the content was dropped, after 30 days in the trash; only the row is left. Null if it was
   * not dropped.
   */
  readonly droppedAt: string | null;
  readonly label: SecretLabel | null;
}

export interface SecretLabel {
  readonly title: string;
  readonly tags: readonly string[];
  readonly contentKind: ContentKind;
  /** File name. */
  readonly name: string;
  /** Bytes of the plain content. */
  readonly size: number;
  /** Ids of the openers that open the content. */
  readonly openerIds: readonly string[];
  /** Date of the last copy check with any of these openers (RFC 3339), or null. */
  readonly copyCheckedAt: string | null;
  /** Kits that contain this secret, oldest first. */
  readonly kits: readonly KitRecord[];
}

export interface KitRecord {
  /** SHA-256 of the file, in lower-case hex. */
  readonly sha256: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /**
   * Whether, since then, the secret was edited, its pictures changed, or the account key was
   * replaced.
   */
  readonly outdated: boolean;
}

export interface NewSecretInput {
  readonly title: string;
  readonly tags: readonly string[];
  readonly contentKind: ContentKind;
  /** File name of the content. A text has the name `secret.txt` and the type `text/plain`. */
  readonly name: string;
  readonly mime: string;
  readonly content: Blob;
  /**
   * A new picture with its name, or ids of openers of the account. An empty list of ids means all
   * openers.
   */
  readonly protection:
    | { readonly kind: "picture"; readonly picture: OpenerHandle; readonly name: string }
    | { readonly kind: "openers"; readonly openerIds: readonly string[] };
}

/** Changes for {@link Vault.update}. Omitted members stay unchanged. */
export interface SecretChange {
  /**
   * The version and the `rev` on which the edit is based. If the secret has other ones by then, the
   * change fails with `version_conflict`.
   */
  readonly baseVersion: number;
  readonly baseRev?: number;
  readonly title?: string;
  readonly tags?: readonly string[];
  readonly content?: Pick<NewSecretInput, "contentKind" | "name" | "mime" | "content">;
  /** Only together with `content`, because a change of openers re-seals the content. */
  readonly protection?: NewSecretInput["protection"];
}

export interface SecretVersion {
  readonly version: number;
  /** RFC 3339. */
  readonly createdAt: string;
  /** Bytes of the sealed content. */
  readonly sealedSize: number;
  readonly current: boolean;
  /**
   * Whether the content was dropped: by its age, by {@link Vault.removeVersions}, or with the
   * trash.
   */
  readonly dropped: boolean;
}

/**
 * An unpublished upload. `running`: parts are being sent. `waiting`: interrupted by a lost
 * connection or a closed tab. `sealed`: the service has all parts, and publishing waits until the
 * vault is unlocked.
 */
export interface PendingUpload {
  readonly uploadId: string;
  readonly secretId: string;
  readonly version: number;
  /** Null while locked. */
  readonly title: string | null;
  /** File name; null while locked. */
  readonly name: string | null;
  /** Bytes of the sealed content. */
  readonly size: number;
  readonly sentBytes: number;
  /** RFC 3339. */
  readonly startedAt: string;
  /** When this device and the service drop the upload, unless it continues (RFC 3339). */
  readonly expiresAt: string;
  readonly state: "running" | "waiting" | "sealed";
  /** Whether {@link Vault.resumeUpload} needs the file to be chosen again. */
  readonly needsFile: boolean;
}

/**
 * An archive, and the identity that opens it (`AGE-SECRET-KEY-PQ-1…`). The identity is secret. It
 * is not part of the archive, and is stored nowhere else.
 */
export interface ExportedSecrets {
  readonly identity: string;
  /** A zip file. It is on disk if the browser has private files. */
  readonly archive: Blob;
  /** Number of secrets in the archive. */
  readonly exportedCount: number;
  /**
   * Ids of secrets that are not in the archive: this opener does not open them, or their content
   * was dropped.
   */
  readonly skippedIds: readonly string[];
  /** Ids of secrets in the archive that opened, but that no signing key of this account signed. */
  readonly unverifiedIds: readonly string[];
}

/** A kit. Its file and attachments are sealed. */
export interface CreatedKit {
  /** `kit-<date>.html`. */
  readonly name: string;
  readonly file: Blob;
  /** SHA-256 of the file, in lower-case hex. */
  readonly sha256: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /**
   * Whether the picture has a passphrase. Without one, anyone who has the kit and its picture can
   * open the kit.
   */
  readonly hasPassphrase: boolean;
  /** Ids of the secrets in the kit. */
  readonly secretIds: readonly string[];
  /**
   * Sealed contents that are too large for the file. The kit expects them next to it, in the same
   * folder and under these names.
   */
  readonly attachments: readonly { readonly secretId: string; readonly name: string; readonly file: Blob }[];
  /**
   * Ids of secrets that are not in the kit: this picture does not open them, or their content was
   * dropped.
   */
  readonly skippedIds: readonly string[];
  /** Ids of secrets in the kit that opened, but that no key of this account signed. */
  readonly unverifiedIds: readonly string[];
}
