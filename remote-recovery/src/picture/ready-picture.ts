import type { PresentedPicture } from "@relicario/vault/presented-opener";

import { presentedPictureOf, type PictureDraft } from "./picture-draft.ts";
import { isUnsavedCapture } from "./captured-picture.ts";

/**
 * The picture as the vault takes it; null while something is missing, it is refused, or it was
 * taken here and not saved yet.
 */
export function readyPictureOf(draft: PictureDraft): PresentedPicture | null {
  const openerPicture = presentedPictureOf(draft);
  return openerPicture === null || isUnsavedCapture(openerPicture.picture) ? null : openerPicture;
}
