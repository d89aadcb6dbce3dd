import type { ComponentType } from "react";

/**
 * The vault seals and opens. It is provided by the recovery remote and lives in a worker: keys, identities and image
 * secrets never reach the page. It makes every call that carries sealed bytes, checks what comes back, and retries
 * conflicts. Errors are PortalErrors; each member lists its own codes beside those of any call.
 */
export interface Vault {
  /** What the person sees of it now. Stable object until something changes. */
  readonly getState: () => VaultState;
  /** Calls back after each change of {@link getState}; returns its undo. */
  readonly subscribe: (listener: () => void) => () => void;

  /** Reads the keyring and says how things stand. `keyring_missing`, `older_state`, `own_key_changed`. */
  readonly refresh: () => Promise<VaultState>;

  /**
   * All rows, trash included; `label` is null while locked. Checked against the signed state: count, root and versions.
   * `list_mismatch`, `older_state`.
   */
  readonly list: (options?: CallOptions) => Promise<readonly SecretRow[]>;

  /**
   * Judges a picture for use as a recovery image: the gate, and whether it is one of the images in the book (told only
   * when unlocked). `picture_unreadable`, `picture_too_large`.
   */
  readonly examine: (picture: Blob, options?: CallOptions) => Promise<PictureVerdict>;

  /** Images that can open something here, by name; never a thumbnail. Empty while locked. */
  readonly images: () => Promise<readonly RecoveryImage[]>;

  /**
   * Seals a secret and publishes it. The very first one makes the account key and everything that hangs on it, in the
   * same call. `picture_too_plain`, `picture_needs_passphrase`, `picture_resembles_another`, `vault_locked`, `opener_needed`,
   * `payload_too_large`, `quota_exceeded`, `state_conflict` after eight tries. Nothing is half published.
   */
  readonly protect: (request: ProtectRequest, options?: CallOptions) => Promise<{ readonly secretId: string; readonly version: number }>;

  /** Opens the account with a picture. `not_this_picture`, `not_this_picture_or_passphrase`, `plain_helper_refused`, `no_keyring`. */
  readonly unlock: (opener: ShownImage, options?: CallOptions) => Promise<void>;

  /**
   * Opens one secret; on a locked device it unlocks with the same picture. Titles show on an unlocked device, contents
   * always take an opener.
   */
  readonly recover: (secretId: string, opener: ShownImage, options?: CallOptions) => Promise<RecoveredSecret>;

  /** The answer to "my own device or a shared computer", asked once after the first unlocking. */
  readonly answerDevice: (kind: DeviceKind) => Promise<void>;

  readonly setFavorite: (secretId: string, favorite: boolean) => Promise<void>;
  /** To the trash, for 30 days. */
  readonly trash: (secretId: string) => Promise<void>;
  readonly restore: (secretId: string) => Promise<void>;

  /** Puts keys and plaintext away by ending the worker. Waiting uploads stay, sealed. */
  readonly lock: () => Promise<void>;

  /**
   * Puts everything away, and on a shared computer (or without an answer) wipes what this device keeps. The vault is of no
   * use afterwards.
   */
  readonly signOut: () => Promise<void>;

  /** The deliberate choice to believe a state older than the one this device remembers, after `older_state`. */
  readonly acceptOlderState: () => Promise<void>;

  /** Chooses or drops a picture, judges it, asks for its passphrase. For the forms of other remotes. */
  readonly PictureField: ComponentType<PictureFieldProps>;
}

/**
 * `empty`: nothing was ever kept here. `locked`: there is a keyring, and this device does not hold its key.
 * `unlocked`: titles can be read; `device` is null until the person has answered.
 */
export type VaultState =
  | { readonly status: "unknown" }
  | { readonly status: "empty" }
  | { readonly status: "locked" }
  | { readonly status: "unlocked"; readonly device: DeviceKind | null };

export type DeviceKind = "own" | "shared";

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: VaultProgress) => void;
}

/** Where a long action stands: `done` of `total` in the unit of its phase (steps, bytes). */
export interface VaultProgress {
  readonly phase: "picture" | "passphrase" | "sealing" | "sending" | "fetching" | "opening";
  readonly done: number;
  readonly total: number;
}

/** A picture that the person shows now, with its passphrase exactly as typed; null without one. */
export interface ShownImage {
  readonly picture: Blob;
  readonly passphrase: string | null;
}

export type ContentKind = "text" | "seed" | "file";

export interface SecretRow {
  readonly secretId: string;
  readonly version: number;
  readonly favorite: boolean;
  /** Bytes of the sealed content. */
  readonly sealedSize: number;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When it went to the trash; null outside it. */
  readonly deletedAt: string | null;
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
  /** RFC 3339; null when it was never rehearsed. */
  readonly rehearsedAt: string | null;
}

export interface RecoveryImage {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

/** What the gate and the book say of a picture. Reasons are keys of the engine's gate, such as `too_small`. */
export interface PictureVerdict {
  readonly level: "green" | "amber" | "red";
  readonly reasons: readonly string[];
  readonly width: number;
  readonly height: number;
  /** `same`: this image is in use already and is used again. `resembles`: a cropped or edited copy of one in use. */
  readonly known: { readonly kind: "same" | "resembles"; readonly image: RecoveryImage | null } | null;
}

export interface ProtectRequest {
  readonly title: string;
  readonly tags: readonly string[];
  readonly contentKind: ContentKind;
  /** File name and type of the content; a text is `secret.txt`, `text/plain`. */
  readonly name: string;
  readonly mime: string;
  readonly content: Blob;
  /** A new image, or the ids of images already in the book; none means all openers of the book. */
  readonly protection: { readonly kind: "picture"; readonly shown: ShownImage; readonly name: string } | { readonly kind: "openers"; readonly openers: readonly string[] };
}

/** An opened secret. Plaintext is held by whoever asked; drop it when it is put away. */
export interface RecoveredSecret {
  readonly secretId: string;
  readonly version: number;
  readonly title: string;
  readonly tags: readonly string[];
  readonly contentKind: ContentKind;
  readonly name: string;
  readonly mime: string;
  readonly content: Uint8Array<ArrayBuffer>;
  /** `not_verified`: it opened, but no signing key of this account signed it. */
  readonly author: "verified" | "not_verified";
  /**
   * For "save as age file": an act of the person, so the identity leaves the worker only when this is called.
   * `vault_locked` after the vault was locked.
   */
  readonly exportAge: () => Promise<AgeFile>;
  /** Lets the worker forget what {@link exportAge} would need. Call it when the secret is put away. */
  readonly putAway: () => void;
}

/** The sealed content as the service keeps it, and the identity (`AGE-SECRET-KEY-PQ-1…`) that opens it. */
export interface AgeFile {
  readonly sealed: Uint8Array<ArrayBuffer>;
  readonly identity: string;
  /** Bytes of the plain content; a text is padded with line feeds behind it: `age -d -i … | head -c <size>`. */
  readonly size: number;
}

export interface PictureFieldProps {
  /** `choose`: an image for protecting, judged by the gate. `show`: a copy for opening, not judged. */
  readonly purpose: "choose" | "show";
  readonly value: ShownImage | null;
  /** Null while there is no picture, or the gate refuses it. */
  readonly onChange: (value: ShownImage | null) => void;
  readonly disabled?: boolean;
  /** What went wrong with this picture, already in words. */
  readonly error?: string | null;
}
