import { PortalError } from "@relicario/shared/errors";

/** How a remote, or a page of one, is loaded: time limit of one attempt, and pauses between attempts. */
export const loadNumbers = { limitMs: 10_000, pausesMs: [400, 1200] as readonly number[] } as const;

/** Runs `load` until it succeeds, with pauses in between. `mayHelp` says whether another attempt makes sense. */
export async function attempts<T>(load: () => Promise<T>, mayHelp: (error: unknown) => boolean): Promise<T> {
  for (let done = 0; ; done++) {
    try {
      return await withTimeLimit(load());
    } catch (error) {
      const wait = loadNumbers.pausesMs[done];
      if (wait === undefined || !mayHelp(error)) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, wait);
      });
    }
  }
}

/** `remote_timed_out` when the work takes too long. What it gives later is kept by whoever did it. */
export async function withTimeLimit<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new PortalError("remote_timed_out"));
    }, loadNumbers.limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
