import { PortalError, toPortalError } from "@relicario/shared/errors";

/** Calls that reject when their worker ends: otherwise they would never settle. */
export interface AbortableCalls {
  /**
   * Settles like the call, or rejects when the worker has ended or failed. Keeps no reference to a
   * settled call: racing every call with one shared promise would retain all results, opened
   * contents included.
   */
  readonly abortable: <T>(call: Promise<T>) => Promise<T>;
  /** Rejects pending calls and all later ones. Only the first error counts. */
  readonly abort: (error: PortalError) => void;
  /** Rejects only the pending calls; later calls still run. */
  readonly rejectPending: (error: PortalError) => void;
}

export function createAbortableCalls(): AbortableCalls {
  const pendingRejects = new Set<(error: PortalError) => void>();
  let abortError: PortalError | null = null;
  const rejectPending = (error: PortalError): void => {
    for (const reject of pendingRejects) reject(error);
    pendingRejects.clear();
  };
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
      rejectPending(error);
    },
    rejectPending,
  };
}

/** Settles like `call`, or rejects with `cancelled` as soon as the signal is aborted. */
export function raceAbort<T>(signal: AbortSignal | undefined, call: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => {
      reject(new PortalError("cancelled", { cause: signal?.reason }));
    };
    if (signal?.aborted === true) cancel();
    signal?.addEventListener("abort", cancel);
    void call.then(resolve, reject).finally(() => {
      signal?.removeEventListener("abort", cancel);
    });
  });
}
