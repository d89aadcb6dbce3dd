import type * as Contract from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { SearchHint } from "@relicario/engine";
import type { Bytes } from "../seal/bytes.ts";

/** A picture and its passphrase: exactly as typed, or null. Stays in the recovery area. */
export interface PresentedPicture {
  readonly picture: Blob;
  readonly passphrase: string | null;
  /** Where in the picture to search, after the usual search has failed. */
  readonly hint?: SearchHint;
}

/**
 * A recovery code as typed or scanned, or the 32 bytes of a passkey's PRF. Stays in the recovery
 * area.
 */
export type PresentedKey =
  | { readonly kind: "recovery_code"; readonly code: string }
  | { readonly kind: "passkey"; readonly prf: Bytes };

export type PresentedOpener = PresentedPicture | PresentedKey;

export function isPresentedKey(presentedOpener: PresentedOpener): presentedOpener is PresentedKey {
  return "kind" in presentedOpener;
}

/** Types of the contract for operations, with the picture in place of its handle. */
export type Protection = WithPresentedPicture<Contract.NewSecretInput["protection"]>;
export type ProtectRequest = Omit<Contract.NewSecretInput, "protection"> & { readonly protection: Protection };
export type SecretChange = Omit<Contract.SecretChange, "protection"> & { readonly protection?: Protection };

type WithPresentedPicture<T> = T extends { readonly picture: Contract.OpenerHandle }
  ? Omit<T, "picture"> & { readonly picture: PresentedPicture }
  : T;

/** A class, because form libraries copy plain objects, and a copied handle is invalid. */
class Handle implements Contract.OpenerHandle {
  readonly [Symbol.toStringTag] = "OpenerHandle";
}

/** Weak, so that an opener is collected together with its handle. */
let presentedByHandle = new WeakMap<Contract.OpenerHandle, PresentedOpener>();

/** Creates a handle for other areas. Called only by the recovery area, which has the picture. */
export function presentPicture(presentedPicture: PresentedPicture): Contract.OpenerHandle {
  const handle = Object.freeze(new Handle());
  presentedByHandle.set(handle, Object.freeze({ ...presentedPicture }));
  return handle;
}

/** Like {@link presentPicture}, for a recovery code or a passkey. */
export function presentKey(presentedKey: PresentedKey): Contract.OpenerHandle {
  const handle = Object.freeze(new Handle());
  presentedByHandle.set(handle, Object.freeze({ ...presentedKey }));
  return handle;
}

/** Whether this thread created the handle, even if it was released. False for a copy. */
export function isOpenerHandle(value: unknown): value is Contract.OpenerHandle {
  return value instanceof Handle;
}

/** Maps a received handle to its opener; see [Note: Handles cross]. */
export function adoptHandle(handle: Contract.OpenerHandle, presentedOpener: PresentedOpener): void {
  presentedByHandle.set(handle, presentedOpener);
}

/** Null for a released handle, and for that of a recovery code or passkey. */
export function getPresentedPicture(handle: Contract.OpenerHandle): PresentedPicture | null {
  const presentedOpener = presentedByHandle.get(handle);
  return presentedOpener === undefined || isPresentedKey(presentedOpener) ? null : presentedOpener;
}

/** Null for a released handle, and for that of a picture. */
export function getPresentedKey(handle: Contract.OpenerHandle): PresentedKey | null {
  const presentedOpener = presentedByHandle.get(handle);
  return presentedOpener !== undefined && isPresentedKey(presentedOpener) ? presentedOpener : null;
}

/** @throws PortalError `picture_needed` for a released handle and for other objects */
export function requirePresented(handle: Contract.OpenerHandle): PresentedOpener {
  const presentedOpener = presentedByHandle.get(handle);
  if (presentedOpener === undefined) throw new PortalError("picture_needed");
  return presentedOpener;
}

export function requirePresentedOrNull(handle: Contract.OpenerHandle | null): PresentedOpener | null {
  return handle === null ? null : requirePresented(handle);
}

/** @throws PortalError `picture_needed` */
export function requirePresentedPicture(handle: Contract.OpenerHandle): PresentedPicture {
  const presentedPicture = getPresentedPicture(handle);
  if (presentedPicture === null) throw new PortalError("picture_needed");
  return presentedPicture;
}

/** @throws PortalError `opener_needed` */
export function requirePresentedKey(handle: Contract.OpenerHandle): PresentedKey {
  const presentedKey = getPresentedKey(handle);
  if (presentedKey === null) throw new PortalError("opener_needed");
  return presentedKey;
}

export function releaseOpener(handle: Contract.OpenerHandle): void {
  presentedByHandle.delete(handle);
}

/**
 * Replaces a handle by its picture.
 * @throws PortalError `picture_needed`
 */
export function resolveProtection(protection: Contract.NewSecretInput["protection"]): Protection {
  return protection.kind === "picture"
    ? { ...protection, picture: requirePresentedPicture(protection.picture) }
    : protection;
}

/**
 * Replaces a handle by its picture.
 * @throws PortalError `picture_needed` for a released handle
 */
export function resolveChange({ protection, ...change }: Contract.SecretChange): SecretChange {
  return protection === undefined ? change : { ...change, protection: resolveProtection(protection) };
}

/** Called on lock and sign-out. */
export function releaseAllOpeners(): void {
  presentedByHandle = new WeakMap();
}
