/** The parts of reading a list, as `pnpm bench:list` asks for them. */
type ListPart = "keyring" | "kept rows" | "pages" | "digests" | "comparing" | "opening first" | "opening";

/**
 * Notes how long a part took as a measure of User Timing (W3C) of this worker. It says nothing of
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

/** The same for what is not waited for. @param start by `performance.now()` */
export function recordDuration(part: ListPart, start: number): void {
  performance.measure(`list ${part}`, { start });
}
