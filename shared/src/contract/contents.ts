import type { ComponentType } from "react";

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

/**
 * Handle of a content that the vault opened. It is frozen and has no data, because the content
 * stays in the vault's origin.
 *
 * Every operation refuses any other object with `vault_locked`, as well as a handle whose content
 * was disposed of, by {@link OpenedContent.dispose}, a lock or the end of the tab.
 */
export interface OpenedHandle {
  readonly [Symbol.toStringTag]: "OpenedHandle";
}

/** A content that the vault opened, and keeps in its origin. */
export interface OpenedContent {
  readonly contentKind: ContentKind;
  readonly name: string;
  readonly mime: string;
  /** Bytes of the plain content. */
  readonly size: number;
  readonly handle: OpenedHandle;
  /**
   * Shows the content in a frame of the vault's origin: hidden until the person reveals it; to be
   * copied, printed and saved there.
   */
  readonly View: ComponentType<OpenedViewProps>;
  /** Wipes the content, also in its views. Call it when the screen closes. Idempotent. */
  readonly dispose: () => void;
}

export interface OpenedViewProps {
  /** Heading on paper, for a content that was sealed without a title. */
  readonly title: string;
}

export interface OpenedSecret extends OpenedContent {
  readonly secretId: string;
  readonly version: number;
  readonly title: string;
  /**
   * The title that the author signed, if it differs from `title`: renaming needs no opener. Null if
   * they are the same.
   */
  readonly signedTitle: string | null;
  readonly tags: readonly string[];
  /** False for an older version. Wherever an older version is shown, label it as such. */
  readonly current: boolean;
  /** `not_verified`: the secret opened, but no author key of this account signed it. */
  readonly signatureStatus: "verified" | "not_verified";
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
