import type { DriveWindow } from "./drive-window.ts";

export type DriveName = "google" | "onedrive";

/** What lies on a drive: a kit opens with its picture, so both on one drive are worth a warning. */
export type DriveContentKind = "kit" | "picture";

/** A file that is larger than this holds no picture of 52 million pixels; nothing is read of it. */
export const maxPictureBytes = 256 * 1024 * 1024;

/** Bytes of what is moved. */
export interface DriveProgress {
  readonly done: number;
  readonly total: number;
}

export interface DriveCallOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: DriveProgress) => void;
}

/**
 * A cloud drive by its documented calls. They throw PortalErrors: `consent_required` when the
 * person or the provider refused, `login_required` when a token is not taken any more,
 * `quota_exceeded` when the drive is full, `offline`, `service_unavailable`, `not_found`,
 * `interaction_required` when the window has to be opened once more, `payload_too_large`,
 * `cancelled`, and `bad_answer` for what the documentation does not know.
 */
export interface Drive {
  readonly name: DriveName;
  /**
   * Signs in in the window and gives a token for {@link contains} and {@link save}; the kept one
   * while it lives.
   */
  readonly getSaveToken: (openWindow: () => DriveWindow, signal: AbortSignal) => Promise<string>;
  /** Whether what this portal saved there, and may see, holds one of this kind. */
  readonly contains: (kind: DriveContentKind, token: string, signal: AbortSignal) => Promise<boolean>;
  /** Never replaces a file of the same name. */
  readonly save: (file: File, token: string, options: DriveCallOptions) => Promise<void>;
  /** The provider's own picker, in the window; then the file that was chosen there. */
  readonly pickFile: (openWindow: () => DriveWindow, language: string, options: DriveCallOptions) => Promise<File>;
}
