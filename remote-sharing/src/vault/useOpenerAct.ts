import type { CallOptions, ShownImage, VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { useEffect, useRef, useState } from "react";

/** `asking`: it goes on once a picture is shown. `error` beside it: the picture shown before was not taken. */
export type OpenerActState =
  | { readonly status: "idle" }
  | { readonly status: "asking"; readonly error: PortalError | null }
  | { readonly status: "running"; readonly asked: boolean; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError };

type Work = (opener: ShownImage | null, options: CallOptions) => Promise<void>;

export interface OpenerAct {
  readonly state: OpenerActState;
  /** Begins without a picture, and asks for one where it is needed; with `asks` it asks at once. */
  readonly start: (work: Work, options?: { readonly asks: boolean }) => void;
  /** Goes on with a picture. */
  readonly show: (opener: ShownImage) => void;
  readonly cancel: () => void;
}

/** An act of the vault that takes an opener unless one was shown since load or lock. Leaving the page cancels it. */
export function useOpenerAct(): OpenerAct {
  const [state, setState] = useState<OpenerActState>({ status: "idle" });
  const work = useRef<Work | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const run = async (opener: ShownImage | null): Promise<void> => {
    if (work.current === null) return;
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    const asked = opener !== null;
    setState({ status: "running", asked, progress: null });
    try {
      await work.current(opener, {
        signal: controller.signal,
        onProgress: (progress) => {
          if (!controller.signal.aborted) setState({ status: "running", asked, progress });
        },
      });
      if (!controller.signal.aborted) setState({ status: "idle" });
    } catch (thrown) {
      if (controller.signal.aborted) return;
      const error = toPortalError(thrown);
      if (error.code === "show_opener_first") setState({ status: "asking", error: null });
      else setState(asked ? { status: "asking", error } : { status: "failed", error });
    }
  };
  return {
    state,
    start: (next, { asks } = { asks: false }) => {
      work.current = next;
      if (asks) setState({ status: "asking", error: null });
      else void run(null);
    },
    show: (opener) => void run(opener),
    cancel: () => {
      running.current?.abort();
      setState({ status: "idle" });
    },
  };
}
