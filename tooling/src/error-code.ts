/**
 * The `code` of a system error (`ENOENT`, `EEXIST`, …); null for anything else. Errors of another
 * realm count too.
 */
export function getErrorCode(error: unknown): string | null {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : null;
}
