import type { Portal } from "@relicario/shared/contract";
import { useSyncExternalStore } from "react";

/**
 * The picture that the camera took last (`userHasTakenPhoto`): until it is saved it exists here alone, so it can still be
 * saved after the form that it was taken for. Memory only. It goes when another picture is chosen, when another form asks
 * for one, when Safeguard is left, and when the portal locks or signs out.
 */
let taken: File | null = null;
let stopListening: (() => void) | null = null;
const listeners = new Set<() => void>();

export function keepTaken(picture: File, portal: Pick<Portal, "onLock">): void {
  forgetTaken();
  taken = picture;
  stopListening = portal.onLock(forgetTaken);
  tell();
}

export function forgetTaken(): void {
  stopListening?.();
  stopListening = null;
  if (taken === null) return;
  taken = null;
  tell();
}

export function useTaken(): File | null {
  return useSyncExternalStore(watch, () => taken);
}

function watch(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

function tell(): void {
  for (const listener of [...listeners]) listener();
}
