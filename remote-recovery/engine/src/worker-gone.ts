import { toPortalError, type PortalError } from "@relicario/shared/errors";

/** The end of a worker: a call to one that is gone would never settle. */
export interface Gone {
  /**
   * The outcome of the call, or a rejection once the worker was ended or failed. Of a call that has
   * settled nothing is kept: racing it with one promise of the end would hold every answer, what
   * was opened among them, for as long as the worker lives.
   */
  readonly orGone: <T>(call: Promise<T>) => Promise<T>;
  /** Rejects the calls that wait and all later ones. Only the first error counts. */
  readonly say: (error: PortalError) => void;
}

export function createGone(): Gone {
  const waiting = new Set<(error: PortalError) => void>();
  let gone: PortalError | null = null;
  return {
    orGone: (call) =>
      new Promise((resolve, reject) => {
        const settled = (): void => {
          waiting.delete(reject);
        };
        call
          .then(resolve, (error: unknown) => {
            reject(toPortalError(error));
          })
          .finally(settled);
        if (gone === null) waiting.add(reject);
        else reject(gone);
      }),
    say: (error) => {
      if (gone !== null) return;
      gone = error;
      for (const reject of waiting) reject(error);
      waiting.clear();
    },
  };
}
