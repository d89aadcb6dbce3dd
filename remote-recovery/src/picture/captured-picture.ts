import type { Portal } from "@relicario/shared/contract";
import { useSyncExternalStore } from "react";

import type { DriveName } from "../drives/drive.ts";

/**
 * The last captured picture; the specification names this state `userHasTakenPhoto` (row 3.45 of
 * docs/coverage.md). Kept after its form closes, because no other copy exists until it is saved. In
 * memory only: cleared when another picture is chosen, when another form for choosing a picture
 * opens, when Safeguard is left, on lock and on sign-out.
 */
let capturedPicture: CapturedPicture | null = null;
let unsubscribeFromLock: (() => void) | null = null;
const listeners = new Set<() => void>();

export interface CapturedPicture {
  readonly picture: File;
  /** Saved to a drive, or handed to the browser, which does not report where it went. */
  readonly saved: boolean;
  /** Drive of the last save; null before any save, and after the browser saved it. */
  readonly lastSavedDrive: DriveName | null;
}

export function setCapturedPicture(picture: File, portal: Pick<Portal, "onLock">): void {
  clearCapturedPicture();
  capturedPicture = { picture, saved: false, lastSavedDrive: null };
  unsubscribeFromLock = portal.onLock(clearCapturedPicture);
  notifyListeners();
}

export function clearCapturedPicture(): void {
  unsubscribeFromLock?.();
  unsubscribeFromLock = null;
  if (capturedPicture === null) return;
  capturedPicture = null;
  notifyListeners();
}

/** Marks the captured picture as saved. Ignores any other picture. */
export function markCapturedPictureSaved(picture: Blob, drive: DriveName | null): void {
  if (capturedPicture?.picture !== picture) return;
  capturedPicture = { ...capturedPicture, saved: true, lastSavedDrive: drive };
  notifyListeners();
}

/** Whether the picture must be saved before it may protect anything. */
export function isUnsavedCapture(picture: Blob): boolean {
  return capturedPicture?.picture === picture && !capturedPicture.saved;
}

export function isCapturedPicture(picture: Blob | null): boolean {
  return capturedPicture?.picture === picture;
}

export function useCapturedPicture(): CapturedPicture | null {
  return useSyncExternalStore(subscribe, () => capturedPicture);
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
