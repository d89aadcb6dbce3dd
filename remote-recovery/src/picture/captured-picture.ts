import type { Portal } from "@relicario/shared/contract";
import { useSyncExternalStore } from "react";

import type { DriveName } from "../drives/drive.ts";

/**
 * The picture that the camera took last (`userHasTakenPhoto`): until it is saved it exists here
 * alone, so it can still be saved after the form that it was taken for. Memory only. It goes when
 * another picture is chosen, when another form asks for one, when Safeguard is left, and when the
 * portal locks or signs out.
 */
let capturedPicture: CapturedPicture | null = null;
let stopListening: (() => void) | null = null;
const listeners = new Set<() => void>();

export interface CapturedPicture {
  readonly picture: File;
  /**
   * A drive took it, or it was handed to the browser to save: where that put it, no page can know.
   */
  readonly saved: boolean;
  /** The drive that took it last; null when it was handed to the browser. */
  readonly drive: DriveName | null;
}

export function setCapturedPicture(picture: File, portal: Pick<Portal, "onLock">): void {
  clearCapturedPicture();
  capturedPicture = { picture, saved: false, drive: null };
  stopListening = portal.onLock(clearCapturedPicture);
  notifyListeners();
}

export function clearCapturedPicture(): void {
  stopListening?.();
  stopListening = null;
  if (capturedPicture === null) return;
  capturedPicture = null;
  notifyListeners();
}

/** The taken picture was saved. Without effect on any other. */
export function markCapturedPictureSaved(picture: Blob, drive: DriveName | null): void {
  if (capturedPicture?.picture !== picture) return;
  capturedPicture = { ...capturedPicture, saved: true, drive };
  notifyListeners();
}

/**
 * Whether a picture was taken here and exists nowhere else: nothing may be protected with it yet.
 */
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
