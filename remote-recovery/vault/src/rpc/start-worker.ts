import { createCallClient } from "@relicario/engine/worker-calls";
import { PortalError } from "@relicario/shared/errors";
import type * as Comlink from "comlink";

/** A worker that runs, its Comlink face, and the two ways in which it ends. */
export interface RunningWorker<T> {
  readonly remote: Comlink.Remote<T>;
  /** Settles when the worker fails by itself; never when it is ended. */
  readonly failure: Promise<PortalError>;
  readonly end: () => void;
}

/**
 * Starts a worker from the text of its script, at a blob address.
 *
 * @param ping a call that does nothing: once it is answered the script runs, and its address can
 *   go.
 */
export async function startWorker<T>(
  name: string,
  script: string,
  ping: (remote: Comlink.Remote<T>) => Promise<void>,
): Promise<RunningWorker<T>> {
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(address, { name });
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
  const remote = createCallClient<T>(worker);
  const end = (): void => {
    worker.terminate();
    // Comlink keeps the worker until its face is collected. By this listener the worker would keep
    // whoever has the face: then neither is.
    listenerController.abort();
  };
  try {
    await raceFailure(failure, ping(remote));
    return { remote, failure, end };
  } catch (error) {
    end();
    throw error;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** A call to a worker that fails would never settle. */
export async function raceFailure<T>(failure: Promise<PortalError>, call: Promise<T>): Promise<T> {
  return Promise.race([
    call,
    failure.then((error) => {
      throw error;
    }),
  ]);
}
