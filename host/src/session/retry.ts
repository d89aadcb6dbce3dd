/** Session storage key of the counter of sign-in errors in a row. */
export const authRetryKey = "authRetry";

/** At so many errors the stored user is removed and the page starts bare (specification, section 4). */
export const authRetryLimit = 2;

/** Counts one more error in a row; true when the limit is reached. */
export function countAuthError(storage: Pick<Storage, "getItem" | "setItem">): boolean {
  const count = Number.parseInt(storage.getItem(authRetryKey) ?? "0", 10);
  const next = (Number.isNaN(count) ? 0 : count) + 1;
  storage.setItem(authRetryKey, String(next));
  return next >= authRetryLimit;
}

/** After a success; and when the page starts bare, or a provider that is down would make it reload for ever. */
export function resetAuthErrors(storage: Pick<Storage, "setItem">): void {
  storage.setItem(authRetryKey, "0");
}
