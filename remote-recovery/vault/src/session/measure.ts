/** Parts of reading a list, as reported by `pnpm bench:list`. */
type ListPart = "keyring" | "kept rows" | "pages" | "digests" | "comparing" | "opening first" | "opening";

/**
 * Records the duration of a part as a User Timing measure (W3C) of this worker, without any data of
 * the account.
 */
export async function measure<T>(part: ListPart, callback: () => T | Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await callback();
  } finally {
    recordDuration(part, start);
  }
}

/** Like {@link measure}, for a synchronous part. @param start value of `performance.now()` */
export function recordDuration(part: ListPart, start: number): void {
  performance.measure(`list ${part}`, { start });
}
