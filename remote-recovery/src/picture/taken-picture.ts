import type { Portal } from "@relicario/shared/contract";
import { useSyncExternalStore } from "react";

import type { DriveName } from "../drives/drive.ts";

/**
 * The picture that the camera took last (`userHasTakenPhoto`): until it is saved it exists here
 * alone, so it can still be saved after the form that it was taken for. Memory only. It goes when
 * another picture is chosen, when another form asks for one, when Safeguard is left, and when the
 * portal locks or signs out.
 */
let taken: TakenPicture | null = null;
let stopListening: (() => void) | null = null;
const listeners = new Set<() => void>();

export interface TakenPicture {
  readonly picture: File;
  /**
   * A drive took it, or it was handed to the browser to save: where that put it, no page can know.
   */
  readonly saved: boolean;
  /** The drive that took it last; null when it was handed to the browser. */
  readonly drive: DriveName | null;
}

export function keepTaken(picture: File, portal: Pick<Portal, "onLock">): void {
  forgetTaken();
  taken = { picture, saved: false, drive: null };
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

/** The taken picture was saved. Without effect on any other. */
export function noteTakenSaved(picture: Blob, drive: DriveName | null): void {
  if (taken?.picture !== picture) return;
  taken = { ...taken, saved: true, drive };
  tell();
}

/**
 * Whether a picture was taken here and exists nowhere else: nothing may be protected with it yet.
 */
export function isUnsaved(picture: Blob): boolean {
  return taken?.picture === picture && !taken.saved;
}

export function isTaken(picture: Blob | null): boolean {
  return taken?.picture === picture;
}

export function useTaken(): TakenPicture | null {
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
