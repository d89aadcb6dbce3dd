import type { CallOptions, OpenerHandle, VaultProgress } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { useState } from "react";

import { useOperation, type OperationState } from "./useOperation.ts";

/**
 * `asking`: it goes on once a picture is shown. `error` beside it: with the picture shown before it
 * failed.
 */
type OpenerOperationState =
  | { readonly status: "idle" }
  | { readonly status: "asking"; readonly error: PortalError | null }
  | { readonly status: "running"; readonly isOpenerRequested: boolean; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError };

type OpenerTask = (opener: OpenerHandle | null, options: CallOptions) => Promise<void>;

export interface OpenerOperation {
  readonly state: OpenerOperationState;
  /**
   * Begins without a picture, and asks for one where it is needed; with `requestOpener` it asks at
   * once.
   */
  readonly start: (task: OpenerTask, options?: { readonly requestOpener: boolean }) => void;
  /** Goes on with a picture. */
  readonly submitOpener: (opener: OpenerHandle) => void;
  readonly cancel: () => void;
}

/** An act of the vault that takes an opener unless one was shown since load or lock. */
export function useOpenerOperation(): OpenerOperation {
  const operation = useOperation();
  const [pendingTask, setPendingTask] = useState<{
    readonly run: OpenerTask;
    readonly isOpenerRequested: boolean;
  } | null>(null);
  const runWithOpener = ({ run }: { readonly run: OpenerTask }, opener: OpenerHandle | null) => {
    setPendingTask({ run, isOpenerRequested: opener !== null });
    operation.run(async (options) => {
      await run(opener, options);
      if (!options.signal.aborted) setPendingTask(null);
    });
  };
  return {
    state: toOpenerState(operation.state, pendingTask?.isOpenerRequested ?? null),
    start: (run, { requestOpener } = { requestOpener: false }) => {
      if (requestOpener) setPendingTask({ run, isOpenerRequested: true });
      else runWithOpener({ run }, null);
    },
    submitOpener: (opener) => {
      if (pendingTask !== null) runWithOpener(pendingTask, opener);
    },
    cancel: () => {
      operation.cancel();
      setPendingTask(null);
    },
  };
}

/**
 * `isOpenerRequested`: whether a picture is asked for; null while nothing was started, or it is
 * done.
 */
function toOpenerState(state: OperationState, isOpenerRequested: boolean | null): OpenerOperationState {
  if (isOpenerRequested === null) return { status: "idle" };
  switch (state.status) {
    case "idle":
      return isOpenerRequested ? { status: "asking", error: null } : { status: "idle" };
    case "running":
      return { ...state, isOpenerRequested };
    case "failed":
      if (state.error.code === "show_opener_first") return { status: "asking", error: null };
      return isOpenerRequested ? { status: "asking", error: state.error } : state;
    default:
      return state satisfies never;
  }
}
