import type { CallOptions, ShownImage, VaultProgress } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { useState } from "react";

import { useAct, type ActState } from "./useAct.ts";

/**
 * `asking`: it goes on once a picture is shown. `error` beside it: with the picture shown before it
 * failed.
 */
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

/** An act of the vault that takes an opener unless one was shown since load or lock. */
export function useOpenerAct(): OpenerAct {
  const act = useAct();
  const [work, setWork] = useState<{ readonly run: Work; readonly asked: boolean } | null>(null);
  const runWith = ({ run }: { readonly run: Work }, opener: ShownImage | null) => {
    setWork({ run, asked: opener !== null });
    act.run(async (options) => {
      await run(opener, options);
      if (!options.signal.aborted) setWork(null);
    });
  };
  return {
    state: stateOf(act.state, work?.asked ?? null),
    start: (run, { asks } = { asks: false }) => {
      if (asks) setWork({ run, asked: true });
      else runWith({ run }, null);
    },
    show: (opener) => {
      if (work !== null) runWith(work, opener);
    },
    cancel: () => {
      act.cancel();
      setWork(null);
    },
  };
}

/** `asked`: whether a picture is asked for; null while nothing was started, or it is done. */
function stateOf(state: ActState, asked: boolean | null): OpenerActState {
  if (asked === null) return { status: "idle" };
  switch (state.status) {
    case "idle":
      return asked ? { status: "asking", error: null } : { status: "idle" };
    case "running":
      return { ...state, asked };
    case "failed":
      if (state.error.code === "show_opener_first") return { status: "asking", error: null };
      return asked ? { status: "asking", error: state.error } : state;
    default:
      return state satisfies never;
  }
}
