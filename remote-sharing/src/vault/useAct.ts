import type { CallOptions, VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { useEffect, useRef, useState } from "react";

export type ActState =
  | { readonly status: "idle" }
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError };

export interface Act {
  readonly state: ActState;
  /**
   * What `work` does after its last await it does even when it was cancelled meanwhile, unless it
   * looks at the signal.
   */
  readonly run: (work: (options: CallOptions & { readonly signal: AbortSignal }) => Promise<void>) => void;
  readonly cancel: () => void;
}

/**
 * A long act of the vault or of a visitor, one at a time, with progress. Leaving the page cancels
 * it.
 */
export function useAct(): Act {
  const [state, setState] = useState<ActState>({ status: "idle" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  return {
    state,
    run: (work) => {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      const { signal } = controller;
      const show = (next: ActState) => {
        if (!signal.aborted) setState(next);
      };
      show({ status: "running", progress: null });
      work({ signal, onProgress: (progress) => show({ status: "running", progress }) }).then(
        () => show({ status: "idle" }),
        (error: unknown) => show({ status: "failed", error: toPortalError(error) }),
      );
    },
    cancel: () => {
      running.current?.abort();
      setState({ status: "idle" });
    },
  };
}
