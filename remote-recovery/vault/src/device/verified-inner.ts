import { isPortalError } from "@relicario/shared/errors";

import type { Bytes } from "../seal/bytes.ts";
import type { BookInnerReference, Device } from "./device.ts";
import { removePublishedSketches } from "./pending-account.ts";

/** Summary of a book's `inner` that the book was found to agree with. */
export interface VerifiedInner {
  readonly reference: BookInnerReference;
  /** Of the book's images, base64url. */
  readonly sketches: ReadonlySet<string>;
  /** Author keys before rotations, with their last `key_epoch`. */
  readonly oldAuthorKeys: readonly { readonly keyEpoch: number; readonly authorKey: Bytes }[];
}

/** Whether a device that remembers one `inner` may take another: later, or the same. */
export function isLaterInner(remembered: BookInnerReference | null, next: BookInnerReference): boolean {
  if (remembered === null || next.keyEpoch > remembered.keyEpoch) return true;
  if (next.keyEpoch < remembered.keyEpoch) return false;
  return next.rev > remembered.rev || (next.rev === remembered.rev && next.sha256 === remembered.sha256);
}

/**
 * Remembers the newest verified `inner`, and removes published sketches. Saves nothing on a full
 * disk: the next unlocking does.
 */
export async function saveVerifiedInner(device: Device, { reference, sketches }: VerifiedInner): Promise<void> {
  try {
    await removePublishedSketches(device, sketches);
    if ((await device.read()).bookInner?.sha256 === reference.sha256) return;
    await device.update(({ bookInner }) => (isLaterInner(bookInner, reference) ? { bookInner: reference } : null));
  } catch (error) {
    if (!isPortalError(error, "storage_full")) throw error;
  }
}
