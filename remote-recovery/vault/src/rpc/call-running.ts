import type { AbortableCalls } from "@relicario/engine/abortable-calls";
import { findSignal } from "@relicario/engine/worker-calls";
import type * as Comlink from "comlink";

import { throwIfCancelled } from "./throw-if-cancelled.ts";

/** A worker that runs, and how it is asked: a call to one that is gone would never settle. */
export interface CallableWorker<Api> {
  readonly remote: Comlink.Remote<Api>;
  readonly abortable: AbortableCalls["abortable"];
}

/**
 * Asks a worker, which is started first where it does not run.
 *
 * @param args those of the call: a signal among them is looked at before the worker is asked
 * @throws PortalError `cancelled`, and whatever the start and the call throw.
 */
export async function callRunning<Running extends Pick<CallableWorker<unknown>, "abortable">, Result>(
  ensure: () => Promise<Running>,
  args: readonly unknown[],
  call: (running: Running) => Promise<Result>,
): Promise<Result> {
  const signal = findSignal(args);
  throwIfCancelled(signal);
  const running = await ensure();
  throwIfCancelled(signal);
  return running.abortable(call(running));
}

/** Names a member of a worker, and gives it as a function with the same arguments and answer. */
export type CallWorker<Api> = <Arguments extends readonly unknown[], Result>(
  member: (remote: Comlink.Remote<Api>) => (...args: Arguments) => Promise<Result>,
) => (...args: Arguments) => Promise<Result>;

export function createCallWorker<Api>(ensure: () => Promise<CallableWorker<Api>>): CallWorker<Api> {
  return (member) =>
    (...args) =>
      callRunning(ensure, args, ({ remote }) => member(remote)(...args));
}
