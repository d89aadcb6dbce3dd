import type { DriveWindow } from "./drive-window.ts";

export type DriveName = "google" | "onedrive";

/**
 * Kind of a saved file. A picture opens its kit, so a warning precedes saving both on one drive.
 */
export type DriveContentKind = "kit" | "picture";

/** Larger than any supported picture (52 megapixels); larger files are not read. */
export const maxPictureBytes = 256 * 1024 * 1024;

/** Progress in bytes. */
export interface DriveProgress {
  readonly done: number;
  readonly total: number;
}

export interface DriveCallOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: DriveProgress) => void;
}

/**
 * A cloud drive. Calls throw PortalErrors:
 * - `consent_required`: the person or the provider refused
 * - `login_required`: the token was rejected
 * - `quota_exceeded`: the drive is full
 * - `interaction_required`: the popup must be opened again
 * - `bad_answer`: the response is undocumented
 * - `offline`, `service_unavailable`, `not_found`, `payload_too_large`, `cancelled`
 */
export interface Drive {
  readonly name: DriveName;
  /** Returns the stored token, or signs in to get one for {@link contains} and {@link save}. */
  readonly getSaveToken: (openWindow: () => DriveWindow, signal: AbortSignal) => Promise<string>;
  /** Whether the files that this portal can see on the drive include this kind. */
  readonly contains: (kind: DriveContentKind, token: string, signal: AbortSignal) => Promise<boolean>;
  /** Never overwrites a file of the same name. */
  readonly save: (file: File, token: string, options: DriveCallOptions) => Promise<void>;
  /** Opens the provider's picker in the popup, then downloads the picked file. */
  readonly pickFile: (openWindow: () => DriveWindow, language: string, options: DriveCallOptions) => Promise<File>;
}
