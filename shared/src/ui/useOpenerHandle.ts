import { useEffect, useRef, useState } from "react";

import type { OpenerHandle } from "../contract/contents.ts";
import type { Vault } from "../contract/vault.ts";

/** Whoever keeps what handles stand for: the vault, or the visitor of a page opened by a link. */
export type OpenerHandleOwner = Pick<Vault, "releaseOpener">;

/**
 * The picture that a form shows, forgotten when the form goes. `handOver` leaves the present one to
 * somebody else, who then has {@link useReleaseOpener} for it.
 */
export function useOpenerHandle(owner: OpenerHandleOwner) {
  const [openerHandle, setOpenerHandle] = useState<OpenerHandle | null>(null);
  const handedOver = useRef<OpenerHandle | null>(null);
  useEffect(
    () => () => {
      if (openerHandle !== null && openerHandle !== handedOver.current) owner.releaseOpener(openerHandle);
    },
    [owner, openerHandle],
  );
  const handOver = (transferred: OpenerHandle) => {
    handedOver.current = transferred;
  };
  return { openerHandle, setOpenerHandle, handOver };
}

/** Forgets a picture when another takes its place, and when the component goes. */
export function useReleaseOpener(owner: OpenerHandleOwner, openerHandle: OpenerHandle | null): void {
  useEffect(
    () => () => {
      if (openerHandle !== null) owner.releaseOpener(openerHandle);
    },
    [owner, openerHandle],
  );
}
