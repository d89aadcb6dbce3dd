import type { Portal } from "@relicario/shared/contract";

import type { DriveName } from "./drive.ts";

/**
 * What is known of the person's drives: tokens, and from which drives a picture was taken or where
 * one was put. Memory only; it goes when the portal locks or signs out, and with the page.
 */
const tokens = new Map<string, { readonly token: string; readonly until: number }>();
const places = new Set<DriveName>();
let stopListening: (() => void) | null = null;

/** A token that is about to end is not used: milliseconds before its end. */
const marginMs = 60_000;

/** Has the memory end with the session. */
export function rememberUntilLock(portal: Pick<Portal, "onLock">): void {
  stopListening ??= portal.onLock(forgetDrives);
}

export function forgetDrives(): void {
  stopListening?.();
  stopListening = null;
  tokens.clear();
  places.clear();
}

/** @param purpose Drive and scope. @param seconds Its life, as the provider says */
export function keepToken(purpose: string, token: string, seconds: number): void {
  tokens.set(purpose, { token, until: Date.now() + seconds * 1000 - marginMs });
}

export function getToken(purpose: string): string | null {
  const kept = tokens.get(purpose);
  return kept !== undefined && kept.until > Date.now() ? kept.token : null;
}

/** A provider refused it: the next call asks for a new one. */
export function dropToken(token: string): void {
  for (const [purpose, kept] of tokens) if (kept.token === token) tokens.delete(purpose);
}

export function notePictureOn(drive: DriveName): void {
  places.add(drive);
}

export function hasPictureOn(drive: DriveName): boolean {
  return places.has(drive);
}
