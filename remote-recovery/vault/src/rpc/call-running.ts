import { raceAbort, type AbortableCalls } from "@relicario/engine/abortable-calls";
import { findSignal } from "@relicario/engine/worker-calls";
import type * as Comlink from "comlink";

import { throwIfCancelled } from "./throw-if-cancelled.ts";

/** A running worker. Wrap calls in `abortable`, because calls to an ended worker never settle. */
export interface CallableWorker<Api> {
  readonly remote: Comlink.Remote<Api>;
  readonly abortable: AbortableCalls["abortable"];
}

/**
 * Calls a worker, and starts it first if needed.
 *
 * @param args arguments of the call. A signal among them is checked before the start, and ends
 *   waiting for it.
 * @throws PortalError `cancelled`, and errors of the start and of the call
 */
export async function callRunning<Running extends Pick<CallableWorker<unknown>, "abortable">, Result>(
  ensure: () => Promise<Running>,
  args: readonly unknown[],
  call: (runningWorker: Running) => Promise<Result>,
): Promise<Result> {
  const signal = findSignal(args);
  throwIfCancelled(signal);
  const runningWorker = await raceAbort(signal, ensure());
  return runningWorker.abortable(call(runningWorker));
}

/** Turns a member of a worker into a function with the same arguments and result. */
export type CallWorker<Api> = <Arguments extends readonly unknown[], Result>(
  member: (remote: Comlink.Remote<Api>) => (...args: Arguments) => Promise<Result>,
) => (...args: Arguments) => Promise<Result>;

export function createCallWorker<Api>(ensure: () => Promise<CallableWorker<Api>>): CallWorker<Api> {
  return (member) =>
    (...args) =>
      callRunning(ensure, args, ({ remote }) => member(remote)(...args));
}
