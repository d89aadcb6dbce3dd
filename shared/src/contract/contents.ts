export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: VaultProgress) => void;
}

/** Where a long action stands: `done` of `total` in the unit of its phase (steps, bytes). */
export interface VaultProgress {
  readonly phase: "picture" | "passphrase" | "sealing" | "sending" | "fetching" | "opening";
  /**
   * Within `picture`: reading the file, trying it as it is, searching crops, turns and mirrors,
   * testing changed copies.
   */
  readonly step?: "decoding" | "straight" | "searching" | "self_test";
  readonly done: number;
  readonly total: number;
}

/**
 * A handle for what the person shows now to open something: a picture with its passphrase or, where
 * no picture is asked for as such, a recovery code or a passkey. It is frozen and has nothing in it
 * but its name: what it stands for stays in the recovery area. {@link Vault.PictureField} makes it;
 * every act refuses any other object with `picture_needed`, and a handle that was forgotten, by
 * {@link Vault.forgetShown} or a lock.
 */
export interface OpenerHandle {
  readonly [Symbol.toStringTag]: "OpenerHandle";
}

export type ContentKind = "text" | "seed" | "file";

export interface RecoveryImage {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

/** An opened secret. Plaintext is held by whoever asked; drop it when it is put away. */
export interface OpenedSecret {
  readonly secretId: string;
  readonly version: number;
  readonly title: string;
  readonly tags: readonly string[];
  readonly contentKind: ContentKind;
  readonly name: string;
  readonly mime: string;
  /** Bytes of the plain content. */
  readonly size: number;
  /** False for an older version: say so wherever it is shown. */
  readonly current: boolean;
  /** Null for content too large to be held in memory: {@link save} streams it. */
  readonly content: Uint8Array<ArrayBuffer> | null;
  /** `not_verified`: it opened, but no signing key of this account signed it. */
  readonly author: "verified" | "not_verified";
  /**
   * Writes the content to a file that the person chose, or, with null, to a private file that is
   * given back as a Blob. Nothing of it can be seen under the file's name before its last byte is
   * verified. Null when it went to `target`. `vault_locked` after the vault was locked,
   * `decryption_failed`, `storage_full`, `cancelled`.
   */
  readonly save: (target: FileSystemFileHandle | null, options?: CallOptions) => Promise<Blob | null>;
  /**
   * For "save as age file": an act of the person, so the identity leaves the worker only when this
   * is called. `vault_locked` after the vault was locked, `payload_too_large` where `content` is
   * null.
   */
  readonly exportAgeFile: () => Promise<AgeFile>;
  /**
   * Lets the worker forget what {@link exportAgeFile} would need. Call it when the secret is put
   * away.
   */
  readonly dispose: () => void;
}

/**
 * The sealed content as the service keeps it, and the identity (`AGE-SECRET-KEY-PQ-1…`) that opens
 * it.
 */
export interface AgeFile {
  readonly sealed: Uint8Array<ArrayBuffer>;
  readonly identity: string;
  /**
   * Bytes of the plain content; a text is padded with line feeds behind it: `age -d -i … | head -c
   * <size>`.
   */
  readonly size: number;
}

export interface PictureFieldProps {
  /**
   * `choose`: an image for protecting, judged by the gate. `show`: a copy for opening, not judged,
   * or a recovery code or passkey in its place. `share`: the picture of a share, where it is made
   * and where it is opened: not judged here, and without a passphrase.
   */
  readonly purpose: "choose" | "show" | "share";
  /** With `show`: a recovery code or a passkey will not do. */
  readonly pictureOnly?: boolean;
  readonly value: OpenerHandle | null;
  /** Null while there is no picture, or the gate refuses it. */
  readonly onChange: (value: OpenerHandle | null) => void;
  /**
   * Told after each choice which image of the book the picture is; null while there is none, and
   * for a new one, which takes a name.
   */
  readonly onRecognise?: (image: RecoveryImage | null) => void;
  readonly disabled?: boolean;
  /** What went wrong with this picture, already in words. */
  readonly error?: string | null;
}
