import type { Portal, OpenedSecret } from "@relicario/shared/contract";
import { useSyncExternalStore } from "react";

/**
 * The one opened secret, between the screen that opened it and the screen that shows it. Memory
 * only. It is dropped, its bytes overwritten, when the screen that shows it is left, and when the
 * portal locks or signs out.
 */
let openedSecret: OpenedSecret | null = null;
let stopListening: (() => void) | null = null;
let retainCount = 0;
const listeners = new Set<() => void>();

export function setOpenedSecret(secret: OpenedSecret, portal: Pick<Portal, "onLock">): void {
  clearOpenedSecret();
  openedSecret = secret;
  stopListening = portal.onLock(clearOpenedSecret);
  notifyListeners();
}

export function clearOpenedSecret(): void {
  stopListening?.();
  stopListening = null;
  if (openedSecret === null) return;
  openedSecret.content?.fill(0);
  openedSecret.dispose();
  openedSecret = null;
  notifyListeners();
}

/** The opened secret, for the screen that shows it. */
export function useOpenedSecret(): OpenedSecret | null {
  return useSyncExternalStore(subscribe, () => openedSecret);
}

/**
 * Says that a screen shows the secret; the undo drops it when no screen is left. React mounts a
 * screen twice in development, so the end is looked at a moment later.
 */
export function retainOpenedSecret(): () => void {
  retainCount++;
  return () => {
    retainCount--;
    setTimeout(() => {
      if (retainCount === 0) clearOpenedSecret();
    });
  };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

function notifyListeners(): void {
  for (const listener of listeners) listener();
}
