import { usePortal, type OpenedShare } from "@relicario/shared/contract";
import { useEffect, useRef, useState } from "react";

/**
 * `closed`: the content is wiped and, after a lock, also the keys that could open the share again.
 */
type OpenedShareState =
  | { readonly status: "unopened" | "closed" }
  | { readonly status: "open"; readonly share: OpenedShare };

export interface OpenedShareAccess {
  readonly state: OpenedShareState;
  readonly setShare: (share: OpenedShare) => void;
  readonly close: () => void;
}

/**
 * Keeps the page's opened share. Wipes it on close, when the page is left, and when the portal
 * locks or signs out.
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
    setShare: (share) => {
      shareRef.current = share;
      setState({ status: "open", share });
    },
    close,
  };
}

function wipe(shareRef: { current: OpenedShare | null }): void {
  shareRef.current?.dispose();
  shareRef.current = null;
}
