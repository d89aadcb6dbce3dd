import type { Portal } from "@relicario/shared/contract";
import { useSyncExternalStore } from "react";

/**
 * Whether the person took a picture with the camera for protecting, and saved it; the specification
 * names this state `userHasTakenPhoto` (row 3.45 of docs/coverage.md). In memory only: cleared when
 * another picture is chosen, when Safeguard is left, on lock and on sign-out.
 */
let captureSaved = false;
let unsubscribeFromLock: (() => void) | null = null;
const listeners = new Set<() => void>();

export function setCaptureSaved(saved: boolean, portal: Pick<Portal, "onLock">): void {
  clearSavedCapture();
  if (!saved) return;
  captureSaved = true;
  unsubscribeFromLock = portal.onLock(clearSavedCapture);
  notifyListeners();
}

export function clearSavedCapture(): void {
  unsubscribeFromLock?.();
  unsubscribeFromLock = null;
  if (!captureSaved) return;
  captureSaved = false;
  notifyListeners();
}

export function useCaptureSaved(): boolean {
  return useSyncExternalStore(subscribe, () => captureSaved);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

function notifyListeners(): void {
  for (const listener of [...listeners]) listener();
}
