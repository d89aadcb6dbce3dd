import type { ImportResult } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";

/**
 * Returns false when the secret could not be marked as a favourite. The import then reports this
 * and continues.
 */
export async function trySetFavorite(operation: Promise<void>): Promise<boolean> {
  try {
    await operation;
    return true;
  } catch (error) {
    if (!isPortalError(error)) throw error;
    return false;
  }
}

export function toFailedFavoriteFields(
  failedFavoriteIndexes: readonly number[],
): Pick<ImportResult, "failedFavoriteIndexes"> {
  return failedFavoriteIndexes.length === 0 ? {} : { failedFavoriteIndexes };
}
