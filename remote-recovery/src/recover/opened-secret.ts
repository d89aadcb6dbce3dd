import type { Portal, RecoveredSecret } from "@relicario/shared/contract";
import { useSyncExternalStore } from "react";

/**
 * The one opened secret, between the screen that opened it and the screen that shows it. Memory
 * only. It is dropped, its bytes overwritten, when the screen that shows it is left, and when the
 * portal locks or signs out.
 */
let opened: RecoveredSecret | null = null;
let stopListening: (() => void) | null = null;
let watchers = 0;
const listeners = new Set<() => void>();

export function keepOpened(secret: RecoveredSecret, portal: Pick<Portal, "onLock">): void {
  dropOpened();
  opened = secret;
  stopListening = portal.onLock(dropOpened);
  tell();
}

export function dropOpened(): void {
  stopListening?.();
  stopListening = null;
  if (opened === null) return;
  opened.content?.fill(0);
  opened.putAway();
  opened = null;
  tell();
}

/** The opened secret, for the screen that shows it. */
export function useOpened(): RecoveredSecret | null {
  return useSyncExternalStore(watch, () => opened);
}

/**
 * Says that a screen shows the secret; the undo drops it when no screen is left. React mounts a
 * screen twice in development, so the end is looked at a moment later.
 */
export function showOpened(): () => void {
  watchers++;
  return () => {
    watchers--;
    setTimeout(() => {
      if (watchers === 0) dropOpened();
    });
  };
}

function watch(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

function tell(): void {
  for (const listener of listeners) listener();
}
