import type { Portal } from "@relicario/shared/contract";

import type { DriveName } from "./drive.ts";

/**
 * What is known of the person's drives: tokens, and from which drives a picture was taken or where
 * one was put. Memory only; it goes when the portal locks or signs out, and with the page.
 */
const tokens = new Map<string, { readonly token: string; readonly expiresAt: number }>();
const drivesWithPicture = new Set<DriveName>();
let stopListening: (() => void) | null = null;

/** A token that is about to end is not used: milliseconds before its end. */
const expiryMarginMilliseconds = 60_000;

/** Has the memory end with the session. */
export function clearOnLock(portal: Pick<Portal, "onLock">): void {
  stopListening ??= portal.onLock(clearDriveMemory);
}

export function clearDriveMemory(): void {
  stopListening?.();
  stopListening = null;
  tokens.clear();
  drivesWithPicture.clear();
}

/** @param purpose Drive and scope. @param seconds Its life, as the provider says */
export function saveToken(purpose: string, token: string, seconds: number): void {
  tokens.set(purpose, { token, expiresAt: Date.now() + seconds * 1000 - expiryMarginMilliseconds });
}

export function getToken(purpose: string): string | null {
  const entry = tokens.get(purpose);
  return entry !== undefined && entry.expiresAt > Date.now() ? entry.token : null;
}

/** A provider refused it: the next call asks for a new one. */
export function deleteToken(token: string): void {
  for (const [purpose, entry] of tokens) if (entry.token === token) tokens.delete(purpose);
}

export function markPictureOn(drive: DriveName): void {
  drivesWithPicture.add(drive);
}

export function hasPictureOn(drive: DriveName): boolean {
  return drivesWithPicture.has(drive);
}
