import type { ShownPicture } from "@relicario/vault/shown-image";

import { shownPictureOf, type PictureDraft } from "./picture-draft.ts";
import { isUnsaved } from "./taken-picture.ts";

/**
 * The picture as the vault takes it; null while something is missing, it is refused, or it was
 * taken here and not saved yet.
 */
export function savedPictureOf(draft: PictureDraft): ShownPicture | null {
  const shown = shownPictureOf(draft);
  return shown === null || isUnsaved(shown.picture) ? null : shown;
}
