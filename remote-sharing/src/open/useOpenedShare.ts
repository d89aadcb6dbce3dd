import { usePortal, type OpenedShare } from "@relicario/shared/contract";
import { useEffect, useRef, useState } from "react";

/** `closed`: its bytes are gone from this page, and, at a lock, what would open it again. */
type OpenedShareState =
  | { readonly status: "unopened" | "closed" }
  | { readonly status: "open"; readonly share: OpenedShare };

export interface OpenedShareAccess {
  readonly state: OpenedShareState;
  /** Takes what was opened. One that was cancelled meanwhile is wiped. */
  readonly setShare: (share: OpenedShare, signal: AbortSignal | undefined) => void;
  readonly close: () => void;
}

/**
 * The one opened share of a page, in memory alone. It is put away, its bytes overwritten, when the
 * person says so, when the page is left, and when the portal locks or signs out.
 */
export function useOpenedShare(): OpenedShareAccess {
  const { onLock } = usePortal();
  const [state, setState] = useState<OpenedShareState>({ status: "unopened" });
  const shareRef = useRef<OpenedShare | null>(null);
  useEffect(
    () => () => {
      wipe(shareRef);
    },
    [],
  );
  const close = () => {
    wipe(shareRef);
    setState({ status: "closed" });
  };
  useEffect(
    () =>
      onLock(() => {
        wipe(shareRef);
        setState({ status: "closed" });
      }),
    [onLock],
  );
  return {
    state,
    setShare: (share, signal) => {
      shareRef.current = share;
      if (signal?.aborted === true) wipe(shareRef);
      else setState({ status: "open", share });
    },
    close,
  };
}

function wipe(shareRef: { current: OpenedShare | null }): void {
  shareRef.current?.content?.fill(0);
  shareRef.current?.dispose();
  shareRef.current = null;
}
