import type { Portal, OpenedSecret } from "@relicario/shared/contract";
import { useSyncExternalStore } from "react";

/**
 * The opened secret, passed from the screen that opens it to the screen that shows it. The vault
 * wipes its content when the second screen is left, on lock and on sign-out.
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
  openedSecret.dispose();
  openedSecret = null;
  notifyListeners();
}

export function useOpenedSecret(): OpenedSecret | null {
  return useSyncExternalStore(subscribe, () => openedSecret);
}

/**
 * Counts a screen that shows the secret. The returned function clears the secret when no screen is
 * left. It checks in a later task, because React mounts twice in development.
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
