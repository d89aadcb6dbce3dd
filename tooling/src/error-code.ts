/** The `code` of a system error, also of another realm; null for anything else. */
export function getErrorCode(error: unknown): string | null {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : null;
}
