import { usePortal, type OpenedShare } from "@relicario/shared/contract";
import { useEffect, useRef, useState } from "react";

/** `put_away`: its bytes are gone from this page, and, at a lock, what would open it again. */
export type OpenedShareState =
  | { readonly status: "closed" | "put_away" }
  | { readonly status: "open"; readonly share: OpenedShare };

export interface OpenedShareAccess {
  readonly state: OpenedShareState;
  /** Takes what was opened. One that was cancelled meanwhile is wiped. */
  readonly keep: (share: OpenedShare, signal: AbortSignal | undefined) => void;
  readonly putAway: () => void;
}

/**
 * The one opened share of a page, in memory alone. It is put away, its bytes overwritten, when the
 * person says so, when the page is left, and when the portal locks or signs out.
 */
export function useOpenedShare(): OpenedShareAccess {
  const { onLock } = usePortal();
  const [state, setState] = useState<OpenedShareState>({ status: "closed" });
  const opened = useRef<OpenedShare | null>(null);
  useEffect(
    () => () => {
      wipe(opened);
    },
    [],
  );
  const putAway = () => {
    wipe(opened);
    setState({ status: "put_away" });
  };
  useEffect(
    () =>
      onLock(() => {
        wipe(opened);
        setState({ status: "put_away" });
      }),
    [onLock],
  );
  return {
    state,
    keep: (share, signal) => {
      opened.current = share;
      if (signal?.aborted === true) wipe(opened);
      else setState({ status: "open", share });
    },
    putAway,
  };
}

function wipe(opened: { current: OpenedShare | null }): void {
  opened.current?.content?.fill(0);
  opened.current?.putAway();
  opened.current = null;
}
