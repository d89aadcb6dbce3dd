import type { CallOptions, VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { useEffect, useRef, useState } from "react";

export type OperationState =
  | { readonly status: "idle" }
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError };

export interface Operation {
  readonly state: OperationState;
  /**
   * What `task` does after its last await it does even when it was cancelled meanwhile, unless it
   * looks at the signal.
   */
  readonly run: (task: (options: CallOptions & { readonly signal: AbortSignal }) => Promise<void>) => void;
  readonly cancel: () => void;
}

/**
 * A long act of the vault or of a visitor, one at a time, with progress. Leaving the page cancels
 * it.
 */
export function useOperation(): Operation {
  const [state, setState] = useState<OperationState>({ status: "idle" });
  const abortController = useRef<AbortController | null>(null);
  useEffect(() => () => abortController.current?.abort(), []);
  return {
    state,
    run: (task) => {
      abortController.current?.abort();
      const controller = new AbortController();
      abortController.current = controller;
      const { signal } = controller;
      const updateState = (next: OperationState) => {
        if (!signal.aborted) setState(next);
      };
      updateState({ status: "running", progress: null });
      task({ signal, onProgress: (progress) => updateState({ status: "running", progress }) }).then(
        () => updateState({ status: "idle" }),
        (error: unknown) => updateState({ status: "failed", error: toPortalError(error) }),
      );
    },
    cancel: () => {
      abortController.current?.abort();
      setState({ status: "idle" });
    },
  };
}
