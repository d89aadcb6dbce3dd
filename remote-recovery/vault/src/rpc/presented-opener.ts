import type * as Contract from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { SearchHint } from "@relicario/engine";
import type { Bytes } from "../seal/bytes.ts";

/**
 * A picture that the person shows now, with its passphrase exactly as typed; null without one.
 * Stays in the recovery area.
 */
export interface PresentedPicture {
  readonly picture: Blob;
  readonly passphrase: string | null;
  /** Where to look for it, once the usual search has not found it. */
  readonly hint?: SearchHint;
}

/**
 * A recovery code as it was typed or scanned, or what a passkey gave: 32 bytes of its PRF. Stays in
 * the recovery area.
 */
export type PresentedKey =
  | { readonly kind: "recovery_code"; readonly code: string }
  | { readonly kind: "passkey"; readonly prf: Bytes };

/** What the person shows now, to open something with it. */
export type PresentedOpener = PresentedPicture | PresentedKey;

export function isPresentedKey(presentedOpener: PresentedOpener): presentedOpener is PresentedKey {
  return "kind" in presentedOpener;
}

/**
 * As those of the contract, with the picture itself in place of its handle: what operations are
 * given.
 */
export type Protection = WithPresentedPicture<Contract.NewSecretInput["protection"]>;
export type ProtectRequest = Omit<Contract.NewSecretInput, "protection"> & { readonly protection: Protection };
export type SecretChange = Omit<Contract.SecretChange, "protection"> & { readonly protection?: Protection };

type WithPresentedPicture<T> = T extends { readonly picture: Contract.OpenerHandle }
  ? Omit<T, "picture"> & { readonly picture: PresentedPicture }
  : T;

/** No plain object: libraries for forms copy those, and a copy stands for nothing. */
class Handle implements Contract.OpenerHandle {
  readonly [Symbol.toStringTag] = "OpenerHandle";
}

/** Held weakly: what nobody holds a handle for is garbage. */
let presentedByHandle = new WeakMap<Contract.OpenerHandle, PresentedOpener>();

/**
 * A handle that others may hold. Only the recovery area, which has the picture already, makes one.
 */
export function presentPicture(presentedPicture: PresentedPicture): Contract.OpenerHandle {
  const handle = Object.freeze(new Handle());
  presentedByHandle.set(handle, Object.freeze({ ...presentedPicture }));
  return handle;
}

/** The same for a recovery code or a passkey. */
export function presentKey(presentedKey: PresentedKey): Contract.OpenerHandle {
  const handle = Object.freeze(new Handle());
  presentedByHandle.set(handle, Object.freeze({ ...presentedKey }));
  return handle;
}

/** Made on this side, whether it still stands for something or not: no copy of one. */
export function isOpenerHandle(value: unknown): value is Contract.OpenerHandle {
  return value instanceof Handle;
}

/** A handle that came from the other side with what it stands for: see [Note: Handles cross]. */
export function adoptHandle(handle: Contract.OpenerHandle, presentedOpener: PresentedOpener): void {
  presentedByHandle.set(handle, presentedOpener);
}

/** The picture that a handle stands for; null when it was forgotten, or is another thing. */
export function getPresentedPicture(handle: Contract.OpenerHandle): PresentedPicture | null {
  const presentedOpener = presentedByHandle.get(handle);
  return presentedOpener === undefined || isPresentedKey(presentedOpener) ? null : presentedOpener;
}

/**
 * The recovery code or passkey that a handle stands for; null when it was forgotten, or is a
 * picture.
 */
export function getPresentedKey(handle: Contract.OpenerHandle): PresentedKey | null {
  const presentedOpener = presentedByHandle.get(handle);
  return presentedOpener !== undefined && isPresentedKey(presentedOpener) ? presentedOpener : null;
}

/** @throws PortalError `picture_needed` when it was forgotten, or is none. */
export function requirePresented(handle: Contract.OpenerHandle): PresentedOpener {
  const presentedOpener = presentedByHandle.get(handle);
  if (presentedOpener === undefined) throw new PortalError("picture_needed");
  return presentedOpener;
}

/** The same where an opener need not be shown. */
export function requirePresentedOrNull(handle: Contract.OpenerHandle | null): PresentedOpener | null {
  return handle === null ? null : requirePresented(handle);
}

/** The same where only a picture will do. @throws PortalError `picture_needed`. */
export function requirePresentedPicture(handle: Contract.OpenerHandle): PresentedPicture {
  const presentedPicture = getPresentedPicture(handle);
  if (presentedPicture === null) throw new PortalError("picture_needed");
  return presentedPicture;
}

/** The same for a recovery code or a passkey. @throws PortalError `opener_needed`. */
export function requirePresentedKey(handle: Contract.OpenerHandle): PresentedKey {
  const presentedKey = getPresentedKey(handle);
  if (presentedKey === null) throw new PortalError("opener_needed");
  return presentedKey;
}

export function releaseOpener(handle: Contract.OpenerHandle): void {
  presentedByHandle.delete(handle);
}

/** A protection with its picture. @throws PortalError `picture_needed`. */
export function resolveProtection(protection: Contract.NewSecretInput["protection"]): Protection {
  return protection.kind === "picture"
    ? { ...protection, picture: requirePresentedPicture(protection.picture) }
    : protection;
}

/** A change with its picture, if it has one. @throws PortalError `picture_needed`. */
export function resolveChange({ protection, ...change }: Contract.SecretChange): SecretChange {
  return protection === undefined ? change : { ...change, protection: resolveProtection(protection) };
}

/** A lock and a sign-out end every handle. */
export function releaseAllOpeners(): void {
  presentedByHandle = new WeakMap();
}
