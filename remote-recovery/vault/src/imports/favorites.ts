import type { ImportResult } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";

/** What was stored stays, and the rest goes on: that it is no favourite is said of it. */
export async function trySetFavorite(operation: Promise<void>): Promise<boolean> {
  try {
    await operation;
    return true;
  } catch (error) {
    if (!isPortalError(error)) throw error;
    return false;
  }
}

export function toFavoriteFailedFields(favoriteFailed: readonly number[]): Pick<ImportResult, "favoriteFailed"> {
  return favoriteFailed.length === 0 ? {} : { favoriteFailed };
}
