import { usePortal, type OpenerHandle } from "@relicario/shared/contract";
import { useReleaseOpener, type OpenerHandleOwner } from "@relicario/shared/ui";
import { createHandle, emptyElementState, type ElementState } from "@relicario/vault";
import { useEffect, useState } from "react";

/**
 * Keeps the handle of what an element created, until a change, a lock or unmounting releases it.
 */
export function useElementHandle(owner: OpenerHandleOwner) {
  const { onLock } = usePortal();
  const [state, setState] = useState<ElementState>(emptyElementState);
  const [handle, setHandle] = useState<OpenerHandle | null>(null);
  useReleaseOpener(owner, handle);
  const handleChange = (next: ElementState) => {
    setState(next);
    setHandle(next.ready && next.heldId !== null ? createHandle(next.heldId) : null);
  };
  useEffect(
    () =>
      onLock(() => {
        setState(emptyElementState);
        setHandle(null);
      }),
    [onLock],
  );
  return { state, handle, handleChange };
}
