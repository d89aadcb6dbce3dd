import { useEffect, useRef, useState } from "react";

import type { OpenerHandle } from "../contract/contents.ts";
import type { Vault } from "../contract/vault.ts";

/** Owner of the keys behind handles: the vault, or the visitor of a page opened by a link. */
export type OpenerHandleOwner = Pick<Vault, "releaseOpener">;

/**
 * Keeps the opener that a form presents, and releases it on replacement and unmount. After
 * `handOver` the receiver owns the current opener and calls {@link useReleaseOpener} for it.
 */
export function useOpenerHandle(owner: OpenerHandleOwner) {
  const [openerHandle, setOpenerHandle] = useState<OpenerHandle | null>(null);
  const transferredHandle = useRef<OpenerHandle | null>(null);
  useEffect(
    () => () => {
      if (openerHandle !== null && openerHandle !== transferredHandle.current) owner.releaseOpener(openerHandle);
    },
    [owner, openerHandle],
  );
  const handOver = (handle: OpenerHandle) => {
    transferredHandle.current = handle;
  };
  return { openerHandle, setOpenerHandle, handOver };
}

/** Releases an opener when another one replaces it, and on unmount. */
export function useReleaseOpener(owner: OpenerHandleOwner, openerHandle: OpenerHandle | null): void {
  useEffect(
    () => () => {
      if (openerHandle !== null) owner.releaseOpener(openerHandle);
    },
    [owner, openerHandle],
  );
}
