import type { StoredImport } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";

/** What was stored stays, and the rest goes on: that it is no favourite is said of it. */
export async function isStarred(starring: Promise<void>): Promise<boolean> {
  try {
    await starring;
    return true;
  } catch (error) {
    if (!isPortalError(error)) throw error;
    return false;
  }
}

export function saidOf(unstarred: readonly number[]): Pick<StoredImport, "unstarred"> {
  return unstarred.length === 0 ? {} : { unstarred };
}
