import type { ComponentType } from "react";

import type { PortalError } from "../errors/index.ts";
import type {
  CallOptions,
  ContentKind,
  PictureFieldProps,
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
 * The vault seals and opens. It is provided by the recovery remote and lives in a worker: keys,
 * identities and image secrets never reach the page. It makes every call that carries sealed bytes,
 * checks what comes back, and retries conflicts. Errors are PortalErrors; each member lists its own
 * codes beside those of any call.
 */
export interface Vault {
  /** What the person sees of it now. Stable object until something changes. */
  readonly getState: () => VaultState;
  /** Calls back after each change of {@link getState}; returns its undo. */
  readonly subscribe: (listener: () => void) => () => void;

  /**
   * Reads the keyring and says how things stand. `keyring_missing`, `older_state`,
   * `own_key_changed`.
   */
  readonly refresh: () => Promise<VaultState>;

  /**
   * All rows, trash included; `label` is null while locked. Checked against the signed state:
   * count, root and versions. With `onRows` they come in batches, the newest secrets first, while
   * the rest is still opening. `list_mismatch`, `older_state`.
   */
  readonly list: (options?: ListOptions) => Promise<readonly SecretRow[]>;

  /** Images that can open something here, by name; never a thumbnail. Empty while locked. */
  readonly listImages: () => Promise<readonly RecoveryImage[]>;

  /**
   * Seals a secret and publishes it. The very first one makes the account key and everything that
   * hangs on it, in the same call. Content of any size up to 5 GiB: what is too large for one call
   * goes as an upload in parts, which {@link listUploads} shows until it is published: sealing and
   * sending go on under the lock, publishing waits for unlocking. Aborting deletes what was sent.
   * `picture_too_plain`, `picture_needs_passphrase`, `picture_resembles_another`, `vault_locked`,
   * `opener_needed`, `payload_too_large`, `quota_exceeded`, `state_conflict` after eight tries. A
   * picture that is an opener already comes with the passphrase that it has: else
   * `not_this_picture_or_passphrase`, or `picture_has_no_passphrase`. Nothing is half published.
   */
  readonly protect: (
    request: NewSecretInput,
    options?: CallOptions,
  ) => Promise<{ readonly secretId: string; readonly version: number }>;

  /**
   * Changes a secret. Title and tags alone take no opener and make no version; content makes a new
   * one, sealed to the openers that the secret has and that still stand in the book, or to
   * `protection`. `version_conflict` (`version` in its details) when another device saved first:
   * nothing was changed, and what was to be saved is still the caller's to show.
   * `too_many_versions` when no former version is old enough to give way: {@link removeVersions}
   * makes room; a large content hears it before it is sent. Otherwise as {@link protect}, and
   * `not_found`.
   */
  readonly update: (
    secretId: string,
    change: SecretChange,
    options?: CallOptions,
  ) => Promise<{ readonly version: number }>;

  /**
   * All versions that there ever were, newest first. No opener is needed; {@link openSecret} opens
   * one of them. On an unlocked device they are checked against the label, on a locked one they are
   * the service's word. `not_found`, `list_mismatch`.
   */
  readonly listVersions: (secretId: string, options?: CallOptions) => Promise<readonly SecretVersion[]>;

  /**
   * Makes the content of an older version a new one; title and tags stay. Takes an opener, as every
   * showing of content. An older version that nobody of this account signed is refused:
   * `decryption_failed`. Otherwise as {@link update}.
   */
  readonly restoreVersion: (
    secretId: string,
    version: number,
    opener: OpenerHandle,
    options?: CallOptions,
  ) => Promise<{ readonly version: number }>;

  /**
   * Removes former versions of a secret for good, by one signed change; each stays in {@link
   * history} as dropped. No opener is needed. `not_found` for a version that is not a former one,
   * `vault_locked`, `list_mismatch`, `state_conflict`.
   */
  readonly removeVersions: (secretId: string, versions: readonly number[], options?: CallOptions) => Promise<void>;

  /**
   * Removes secrets for good, all of them or none, by one signed change. `not_in_trash` when one of
   * them is not in the trash, `vault_locked`, `not_found`, `state_conflict`.
   */
  readonly purge: (secretIds: readonly string[], options?: CallOptions) => Promise<void>;

  /**
   * Uploads of this device that are not published: running, waiting, or left by a closed tab.
   * Oldest first.
   */
  readonly listUploads: () => Promise<readonly PendingUpload[]>;

  /**
   * Goes on with an upload, and publishes it. `file` is the same file chosen again; null where none
   * is needed ({@link PendingUpload.needsFile}). `file_changed` when it is another one: then
   * nothing is sent. `vault_locked` when all was sent before and only publishing is left,
   * `conflict` while another tab sends it, `not_found`. `opener_needed` and `show_opener_first` ask
   * for a picture, as `protection` of the options: what was sent stays. With a picture also those
   * of {@link protect}, and `picture_needed`.
   */
  readonly resumeUpload: (
    uploadId: string,
    file: Blob | null,
    options?: ResumeOptions,
  ) => Promise<{ readonly secretId: string; readonly version: number }>;

  /**
   * Sends an upload from the beginning, with its file, which may be another one by now: after
   * `file_changed` or `upload_dropped`. Nothing of what was sent before is used again. Where it
   * shows that it was published after all, nothing is sent, and that version is the answer.
   * `vault_locked`, `not_found`, `version_conflict`, `quota_exceeded`.
   */
  readonly restartUpload: (
    uploadId: string,
    file: Blob,
    options?: CallOptions,
  ) => Promise<{ readonly secretId: string; readonly version: number }>;

  /** Forgets an upload, here and at the service. Without effect when it is gone already. */
  readonly discardUpload: (uploadId: string) => Promise<void>;

  /**
   * Opens the account with a picture, a recovery code or a passkey. `not_this_picture`,
   * `not_this_picture_or_passphrase`, `plain_helper_refused`, `recovery_code_unreadable`,
   * `not_this_recovery_code`, `not_this_passkey`, `no_keyring`.
   */
  readonly unlock: (opener: OpenerHandle, options?: CallOptions) => Promise<void>;

  /**
   * Unlocks an own device by a fresh sign-in, in a window of the identity provider: an act, never a
   * mere click. Call it from a click, else browsers keep the window closed. `opener_needed` where
   * this device keeps no key (a shared computer, or one that a passkey opens), `login_required`
   * when the sign-in is older than the lock, `cancelled`, `no_keyring`.
   */
  readonly unlockBySignIn: () => Promise<void>;

  /**
   * Opens one secret; on a locked device it unlocks with the same picture. Titles show on an
   * unlocked device, contents always take an opener. With `version` an older one, whose `current`
   * is false. `not_found`, `opener_needed` when this picture does not open it, `content_gone` for a
   * version that was dropped.
   */
  readonly openSecret: (secretId: string, opener: OpenerHandle, options?: OpenSecretOptions) => Promise<OpenedSecret>;

  /**
   * Proves that a kept copy still opens a secret, without giving out anything of it, and notes the
   * date in the secret's label. All of a content that goes in one call is opened and checked; of a
   * larger one its key. On a locked device it unlocks. As {@link openSecret}, and `state_conflict`
   * after eight tries.
   */
  readonly checkCopy: (
    secretId: string,
    handle: OpenerHandle,
    options?: CallOptions,
  ) => Promise<{ readonly copyCheckedAt: string }>;

  /**
   * Writes an archive of sealed secrets that opens with the standard `age`, without this portal.
   * What the picture does not open is left out and named. Nothing is given before the last content
   * fits its digest. `opener_needed` when it opens none, `not_found`, `list_mismatch`,
   * `decryption_failed`, `storage_full`, `cancelled`, `vault_locked` when it was locked meanwhile;
   * otherwise as {@link openSecret}.
   */
  readonly exportSecrets: (
    secretIds: readonly string[],
    opener: OpenerHandle,
    options?: CallOptions,
  ) => Promise<ExportedSecrets>;

  /**
   * Makes one HTML file that opens these secrets with their picture, offline and without this
   * portal, and names it in their labels. What the picture does not open is left out and named;
   * contents over 1 MiB lie beside the file, sealed. Nothing is given before the labels are
   * published: a kit that was given is one that {@link SecretLabel.kits} knows. `validation_error`
   * for more than 64 secrets or a note that is too long; otherwise as {@link exportSecrets} and
   * {@link update}.
   */
  readonly createKit: (secretIds: readonly string[], opener: OpenerHandle, options?: KitOptions) => Promise<CreatedKit>;

  /**
   * The answer to "my own device or a shared computer", asked once after the first unlocking.
   * `keysSaved`: whether titles can be read here at the next visit; not where the browser cannot
   * keep a signing key (no Ed25519), though the device is the person's own.
   */
  readonly setDeviceKind: (kind: DeviceKind) => Promise<{ readonly keysSaved: boolean }>;

  readonly setFavorite: (secretId: string, favorite: boolean) => Promise<void>;
  /** To the trash, for 30 days. */
  readonly trash: (secretId: string) => Promise<void>;
  readonly restore: (secretId: string) => Promise<void>;

  /**
   * Puts keys and plaintext away by ending the worker, in every tab of this account. Waiting
   * uploads stay, sealed.
   */
  readonly lock: () => Promise<void>;

  /**
   * Locks by itself after so long without a key, a touch or a pointer in any tab. Kept per device.
   */
  readonly autoLock: AutoLock;

  /**
   * Ends everything that holds keys, plaintext or uploads. What this device keeps is the host's to
   * wipe. The vault is of no use afterwards.
   */
  readonly signOut: () => Promise<void>;

  /**
   * The deliberate choice to believe one state that is older than the one this device remembers:
   * the one that this `older_state`, which the person was shown, is about. `older_state` when the
   * service gives yet another one by now.
   */
  readonly acceptOlderState: (error: PortalError) => Promise<void>;

  /**
   * After `device_record_unreadable`: keeps what this device knows of the account under another
   * name and begins as on a fresh device, which cannot tell an older state.
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

  /**
   * Chooses or drops a picture, judges it, asks for its passphrase. For the forms of other remotes.
   */
  readonly PictureField: ComponentType<PictureFieldProps>;

  /**
   * Forgets a picture that was shown, once its form has ended. A lock forgets all. Without effect
   * when it is forgotten already.
   */
  readonly releaseOpener: (handle: OpenerHandle) => void;
}

/**
 * `empty`: nothing was ever kept here. `locked`: there is a keyring, and this device does not hold
 * its key. `unlocked`: titles can be read; `device` is null until the person has answered.
 */
export type VaultState =
  | { readonly status: "unknown" }
  | { readonly status: "empty" }
  | { readonly status: "locked" }
  | { readonly status: "unlocked"; readonly device: DeviceKind | null };

export type DeviceKind = "own" | "shared";

/** Rows of one batch, and how many of all there were so far. */
export type RowsListener = (
  rows: readonly SecretRow[],
  progress: { readonly opened: number; readonly total: number },
) => void;

export interface ListOptions extends CallOptions {
  readonly onRows?: RowsListener;
}

export interface OpenSecretOptions extends CallOptions {
  /** An older version, by its number in {@link Vault.listVersions}. */
  readonly version?: number;
}

export interface KitOptions extends CallOptions {
  /** Stands on the kit for everybody to read, up to 200 characters; nothing unless it is given. */
  readonly note?: string;
}

export interface ResumeOptions extends CallOptions {
  /**
   * The picture that is asked for after `opener_needed` or `show_opener_first`: it protects what is
   * published.
   */
  readonly protection?: NewSecretInput["protection"];
}

/** Minutes without activity until the vault locks itself. */
export interface AutoLock {
  /** 15 unless it was set. */
  readonly get: () => number;
  /** Whole minutes, {@link autoLockMinutes}; `validation_error` is thrown for others. */
  readonly set: (minutes: number) => void;
}

export const autoLockMinutes = { minimum: 1, maximum: 240, default: 15 } as const;

export interface SecretRow {
  readonly secretId: string;
  readonly version: number;
  /** Grows with every change of title, tags or content; what an edit is based on. */
  readonly rev: number;
  readonly favorite: boolean;
  /** Bytes of the sealed content. */
  readonly sealedSize: number;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When it went to the trash; null outside it. */
  readonly deletedAt: string | null;
  /** When its content went, after 30 days in the trash: only the row is left. Null before. */
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
  /** Ids of the openers that can open the content. */
  readonly openers: readonly string[];
  /** The newest rehearsal with any of these openers. RFC 3339; null when it was never rehearsed. */
  readonly copyCheckedAt: string | null;
  /** Kits that hold this secret, the newest last. */
  readonly kits: readonly KitRecord[];
}

export interface KitRecord {
  /** Of the file, in lower-case hex. */
  readonly sha256: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /**
   * The secret was edited since, or is opened by other pictures, or the account has another key.
   */
  readonly outdated: boolean;
}

export interface NewSecretInput {
  readonly title: string;
  readonly tags: readonly string[];
  readonly contentKind: ContentKind;
  /** File name and type of the content; a text is `secret.txt`, `text/plain`. */
  readonly name: string;
  readonly mime: string;
  readonly content: Blob;
  /** A new image, or the ids of images already in the book; none means all openers of the book. */
  readonly protection:
    | { readonly kind: "picture"; readonly picture: OpenerHandle; readonly name: string }
    | { readonly kind: "openers"; readonly openers: readonly string[] };
}

/** What {@link Vault.update} changes; what is left out stays. */
export interface SecretChange {
  /**
   * The version that was edited, and the `rev` of its row: another one by now is a
   * `version_conflict`.
   */
  readonly baseVersion: number;
  readonly baseRev?: number;
  readonly title?: string;
  readonly tags?: readonly string[];
  readonly content?: Pick<NewSecretInput, "contentKind" | "name" | "mime" | "content">;
  /** Only with `content`: sealing anew takes all of it. */
  readonly protection?: NewSecretInput["protection"];
}

export interface SecretVersion {
  readonly version: number;
  /** RFC 3339. */
  readonly createdAt: string;
  /** Bytes of the sealed content. */
  readonly sealedSize: number;
  readonly current: boolean;
  /** Its content is gone: by age, by {@link Vault.removeVersions}, or with the trash. */
  readonly dropped: boolean;
}

/**
 * An upload that is not published. `running`: parts are being sent. `waiting`: stopped, by a lost
 * connection or a closed tab. `sealed`: all parts are there, publishing waits for unlocking.
 */
export interface PendingUpload {
  readonly uploadId: string;
  readonly secretId: string;
  readonly version: number;
  /** Null while locked. */
  readonly title: string | null;
  /** File name; null while locked. */
  readonly name: string | null;
  /** Bytes of the sealed content, and how many of them are there. */
  readonly size: number;
  readonly sent: number;
  /** RFC 3339. */
  readonly startedAt: string;
  /**
   * When it is dropped, here and at the service, unless it goes on or is published before. RFC
   * 3339.
   */
  readonly expiresAt: string;
  readonly state: "running" | "waiting" | "sealed";
  /** Whether {@link Vault.resumeUpload} needs the file chosen again. */
  readonly needsFile: boolean;
}

/**
 * A written archive, and the identity (`AGE-SECRET-KEY-PQ-1…`) that opens it and is not in it: a
 * secret, kept nowhere else.
 */
export interface ExportedSecrets {
  readonly identity: string;
  /** A zip file, on disk where the browser has private files. */
  readonly archive: Blob;
  /** How many secrets are in it. */
  readonly exported: number;
  /** Ids of those that are not: this picture does not open them, or their content is gone. */
  readonly skipped: readonly string[];
  /** Ids of those in it that opened, but that no signing key of this account signed. */
  readonly notVerified: readonly string[];
}

/** A kit as it was made. Its file and those beside it are sealed. */
export interface CreatedKit {
  /** File name: `kit-<date>.html`. */
  readonly name: string;
  readonly file: Blob;
  /** Of the file, in lower-case hex. */
  readonly sha256: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /**
   * Whether the picture takes a passphrase. Without one the kit beside its picture opens for
   * anybody.
   */
  readonly hasPassphrase: boolean;
  /** Ids of the secrets that it opens. */
  readonly secretIds: readonly string[];
  /**
   * Sealed contents that are too large for the file: they have to lie beside it, under these names.
   */
  readonly attachments: readonly { readonly secretId: string; readonly name: string; readonly file: Blob }[];
  /** Ids of those that are not in it: this picture does not open them, or their content is gone. */
  readonly skipped: readonly string[];
  /** Ids of those in it that opened, but that no signing key of this account signed. */
  readonly notVerified: readonly string[];
}
