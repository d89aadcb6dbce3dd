import { toPortalError, type PortalError } from "@relicario/shared/errors";

/** The end of a worker: a call to one that is gone would never settle. */
export interface AbortableCalls {
  /**
   * The outcome of the call, or a rejection once the worker was ended or failed. Of a call that has
   * settled nothing is kept: racing it with one promise of the end would hold every answer, what
   * was opened among them, for as long as the worker lives.
   */
  readonly abortable: <T>(call: Promise<T>) => Promise<T>;
  /** Rejects the calls that wait and all later ones. Only the first error counts. */
  readonly abort: (error: PortalError) => void;
}

export function createAbortableCalls(): AbortableCalls {
  const pendingRejects = new Set<(error: PortalError) => void>();
  let abortError: PortalError | null = null;
  return {
    abortable: (call) =>
      new Promise((resolve, reject) => {
        const removePending = (): void => {
          pendingRejects.delete(reject);
        };
        call
          .then(resolve, (error: unknown) => {
            reject(toPortalError(error));
          })
          .finally(removePending);
        if (abortError === null) pendingRejects.add(reject);
        else reject(abortError);
      }),
    abort: (error) => {
      if (abortError !== null) return;
      abortError = error;
      for (const reject of pendingRejects) reject(error);
      pendingRejects.clear();
    },
  };
}
