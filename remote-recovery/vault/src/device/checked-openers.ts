import { isPortalError } from "@relicario/shared/errors";

import type { Device } from "./device.ts";
import { removePublishedSketches } from "./pending-account.ts";

/** The openers of a book, found to be those inside. */
export interface VerifiedOpeners {
  /** base64url. */
  readonly digest: string;
  /** Of the images in the book, base64url. */
  readonly sketches: ReadonlySet<string>;
}

/**
 * Saves which openers were compared last, so that metadata keys alone know them again, and drops
 * the waiting sketches that are published. A full disk saves nothing: an opener is asked for again.
 */
export async function saveCheckedOpeners(device: Device, { digest, sketches }: VerifiedOpeners): Promise<void> {
  try {
    await removePublishedSketches(device, sketches);
    if ((await device.read()).checkedOpeners !== digest) await device.write({ checkedOpeners: digest });
  } catch (error) {
    if (!isPortalError(error, "storage_full")) throw error;
  }
}
