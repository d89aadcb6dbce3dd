export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: VaultProgress) => void;
}

/**
 * Progress of a long operation: `done` of `total`, in the unit of the phase (steps, bytes or
 * items).
 */
export interface VaultProgress {
  readonly phase: "picture" | "passphrase" | "sealing" | "sending" | "fetching" | "opening";
  /**
   * Step within the phase `picture`. `decoding`: reads the file. `straight`: tries the picture
   * unchanged. `searching`: tries crops, rotations and mirror images. `self_test`: tests altered
   * copies.
   */
  readonly step?: "decoding" | "straight" | "searching" | "self_test";
  readonly done: number;
  readonly total: number;
}

/**
 * Handle of an opener that the person presented: a picture with its passphrase or, unless a picture
 * is required, a recovery code or a passkey. {@link Vault.PictureField} creates it. It is frozen
 * and has no data, because the keys stay in the vault's workers.
 *
 * Every operation refuses any other object with `picture_needed`, as well as a handle that {@link
 * Vault.releaseOpener} or a lock released.
 */
export interface OpenerHandle {
  readonly [Symbol.toStringTag]: "OpenerHandle";
}

/** Kind of a content. A `record` has labelled fields: parse it with `parseRecord`. */
export type ContentKind = "text" | "seed" | "record" | "file";

export interface RecoveryImage {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

/** An opened secret. The caller keeps the plaintext until the view closes, then drops it. */
export interface OpenedSecret {
  readonly secretId: string;
  readonly version: number;
  readonly title: string;
  /**
   * The title that the author signed, if it differs from `title`: renaming needs no opener. Null if
   * they are the same.
   */
  readonly signedTitle: string | null;
  readonly tags: readonly string[];
  readonly contentKind: ContentKind;
  readonly name: string;
  readonly mime: string;
  /** Bytes of the plain content. */
  readonly size: number;
  /** False for an older version. Wherever an older version is shown, label it as such. */
  readonly current: boolean;
  /** Null for content that is too large for memory: {@link save} streams it. */
  readonly content: Uint8Array<ArrayBuffer> | null;
  /** `not_verified`: the secret opened, but no author key of this account signed it. */
  readonly signatureStatus: "verified" | "not_verified";
  /**
   * Writes the content to `target`, a file that the person chose, and resolves with null. Without a
   * `target` it writes a private file and resolves with that. No file with the given name appears
   * before the last byte is verified.
   *
   * Fails with `vault_locked` after a lock, `decryption_failed`, `storage_full`, `cancelled`.
   */
  readonly save: (target: FileSystemFileHandle | null, options?: CallOptions) => Promise<Blob | null>;
  /**
   * Returns the sealed content and its identity, for "save as age file". Call it only when the
   * person asks for the file: no other call takes the identity out of the worker.
   *
   * Fails with `vault_locked` after a lock, and with `payload_too_large` if `content` is null.
   */
  readonly exportAgeFile: () => Promise<AgeFile>;
  /**
   * Wipes the data that the worker keeps for {@link exportAgeFile}. Call it when the view closes.
   */
  readonly dispose: () => void;
}

/**
 * The sealed content as the service stores it, and the identity that opens it
 * (`AGE-SECRET-KEY-PQ-1…`).
 */
export interface AgeFile {
  readonly sealedContent: Uint8Array<ArrayBuffer>;
  readonly identity: string;
  /**
   * Bytes of the plain content. Texts are padded with line feeds after these bytes: cut them off
   * with `age -d -i … | head -c <size>`.
   */
  readonly size: number;
}

export interface PictureFieldProps {
  /**
   * `choose`: a new picture to protect with, which is tested for detail. `show`: a copy that opens,
   * which is not tested; the field also accepts a recovery code or a passkey. `share`: the picture
   * of a share, when creating or opening it, which is not tested and has no passphrase.
   */
  readonly purpose: "choose" | "show" | "share";
  /** With `show`: accepts only a picture. */
  readonly pictureOnly?: boolean;
  readonly value: OpenerHandle | null;
  /** Called with null while there is no picture, or if the test refuses it. */
  readonly onChange: (value: OpenerHandle | null) => void;
  /**
   * Called after each choice with the recovery image that the picture matches. Called with null
   * without a picture, and for a new picture, which needs a name.
   */
  readonly onRecognise?: (image: RecoveryImage | null) => void;
  readonly disabled?: boolean;
  /** Translated error message about this picture. */
  readonly error?: string | null;
}
