import { createCallClient } from "@relicario/engine/worker-calls";
import { PortalError } from "@relicario/shared/errors";
import type * as Comlink from "comlink";

export interface RunningWorker<T> {
  readonly remote: Comlink.Remote<T>;
  /** Resolves when the worker fails; never resolves after `end`. */
  readonly failure: Promise<PortalError>;
  readonly end: () => void;
}

/**
 * Waits until a new worker runs.
 *
 * @param ping a call without effect. When it resolves, the script runs.
 */
export async function startWorker<T>(
  worker: Worker,
  ping: (remote: Comlink.Remote<T>) => Promise<void>,
): Promise<RunningWorker<T>> {
  const listenerController = new AbortController();
  const failure = new Promise<PortalError>((resolve) => {
    worker.addEventListener(
      "error",
      (event) => {
        resolve(new PortalError("vault_unavailable", { cause: event.error }));
      },
      { signal: listenerController.signal },
    );
  });
  const remote = createCallClient<T>(worker, listenerController.signal);
  const end = (): void => {
    worker.terminate();
    // Comlink's proxy references the worker, and the listener would keep the proxy alive. Without
    // this, neither would be collected.
    listenerController.abort();
  };
  try {
    await raceFailure(failure, ping(remote));
    return { remote, failure, end };
  } catch (error) {
    end();
    throw error;
  }
}

/** Rejects when the worker fails; the call alone would never settle. */
export async function raceFailure<T>(failure: Promise<PortalError>, call: Promise<T>): Promise<T> {
  return Promise.race([
    call,
    failure.then((error) => {
      throw error;
    }),
  ]);
}
