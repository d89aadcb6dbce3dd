import type { Portal } from "@relicario/shared/contract";

import type { DriveName } from "./drive.ts";

/**
 * Holds drive tokens, and which drives a picture was read from or saved to. In memory only: cleared
 * on lock, sign-out and reload.
 */
const tokens = new Map<string, { readonly token: string; readonly expiresAt: number }>();
const drivesWithPicture = new Set<DriveName>();
let stopListening: (() => void) | null = null;

/** Treats tokens as expired this long before their end. */
const expiryMarginMilliseconds = 60_000;

/** Clears the memory when the session locks or ends. */
export function clearOnLock(portal: Pick<Portal, "onLock">): void {
  stopListening ??= portal.onLock(clearDriveMemory);
}

export function clearDriveMemory(): void {
  stopListening?.();
  stopListening = null;
  tokens.clear();
  drivesWithPicture.clear();
}

/**
 * @param purpose drive and scope
 * @param lifetimeSeconds as the provider reports it
 */
export function saveToken(purpose: string, token: string, lifetimeSeconds: number): void {
  tokens.set(purpose, { token, expiresAt: Date.now() + lifetimeSeconds * 1000 - expiryMarginMilliseconds });
}

export function getToken(purpose: string): string | null {
  const storedToken = tokens.get(purpose);
  return storedToken !== undefined && storedToken.expiresAt > Date.now() ? storedToken.token : null;
}

/** Called when the provider rejects a token, so that the next call requests a new one. */
export function deleteToken(token: string): void {
  for (const [purpose, storedToken] of tokens) if (storedToken.token === token) tokens.delete(purpose);
}

export function markPictureOn(drive: DriveName): void {
  drivesWithPicture.add(drive);
}

export function listDrivesWithPicture(): DriveName[] {
  return [...drivesWithPicture];
}

export function hasPictureOn(drive: DriveName): boolean {
  return drivesWithPicture.has(drive);
}
