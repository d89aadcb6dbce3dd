import type * as Contract from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { SearchHint } from "@relicario/engine";
import type { Bytes } from "./seal/bytes.ts";

/**
 * A picture that the person shows now, with its passphrase exactly as typed; null without one.
 * Stays in the recovery area.
 */
export interface ShownPicture {
  readonly picture: Blob;
  readonly passphrase: string | null;
  /** Where to look for it, once the usual search has not found it. */
  readonly hint?: SearchHint;
}

/**
 * A recovery code as it was typed or scanned, or what a passkey gave: 32 bytes of its PRF. Stays in
 * the recovery area.
 */
export type ShownKey =
  | { readonly kind: "recovery_code"; readonly code: string }
  | { readonly kind: "passkey"; readonly prf: Bytes };

/** What the person shows now, to open something with it. */
export type Shown = ShownPicture | ShownKey;

export function isKey(shown: Shown): shown is ShownKey {
  return "kind" in shown;
}

/**
 * As those of the contract, with the picture itself in place of its handle: what acts are given.
 */
export type Protection = WithPicture<Contract.ProtectRequest["protection"]>;
export type ProtectRequest = Omit<Contract.ProtectRequest, "protection"> & { readonly protection: Protection };
export type SecretChange = Omit<Contract.SecretChange, "protection"> & { readonly protection?: Protection };

type WithPicture<Given> = Given extends { readonly shown: Contract.ShownImage }
  ? Omit<Given, "shown"> & { readonly shown: ShownPicture }
  : Given;

/** No plain object: libraries for forms copy those, and a copy stands for nothing. */
class Handle implements Contract.ShownImage {
  readonly [Symbol.toStringTag] = "ShownImage";
}

/** Held weakly: what nobody holds a handle for is garbage. */
let kept = new WeakMap<Contract.ShownImage, Shown>();

/**
 * A handle that others may hold. Only the recovery area, which has the picture already, makes one.
 */
export function showPicture(shown: ShownPicture): Contract.ShownImage {
  const handle = Object.freeze(new Handle());
  kept.set(handle, Object.freeze({ ...shown }));
  return handle;
}

/** The same for a recovery code or a passkey. */
export function showKey(shown: ShownKey): Contract.ShownImage {
  const handle = Object.freeze(new Handle());
  kept.set(handle, Object.freeze({ ...shown }));
  return handle;
}

/** The picture that a handle stands for; null when it was forgotten, or is another thing. */
export function shownPicture(handle: Contract.ShownImage): ShownPicture | null {
  const shown = kept.get(handle);
  return shown === undefined || isKey(shown) ? null : shown;
}

/**
 * The recovery code or passkey that a handle stands for; null when it was forgotten, or is a
 * picture.
 */
export function shownKey(handle: Contract.ShownImage): ShownKey | null {
  const shown = kept.get(handle);
  return shown !== undefined && isKey(shown) ? shown : null;
}

/** @throws PortalError `picture_needed` when it was forgotten, or is none. */
export function requireShown(handle: Contract.ShownImage): Shown {
  const shown = kept.get(handle);
  if (shown === undefined) throw new PortalError("picture_needed");
  return shown;
}

/** The same where only a picture will do. @throws PortalError `picture_needed`. */
export function requirePicture(handle: Contract.ShownImage): ShownPicture {
  const shown = shownPicture(handle);
  if (shown === null) throw new PortalError("picture_needed");
  return shown;
}

/** The same for a recovery code or a passkey. @throws PortalError `opener_needed`. */
export function requireKey(handle: Contract.ShownImage): ShownKey {
  const shown = shownKey(handle);
  if (shown === null) throw new PortalError("opener_needed");
  return shown;
}

export function forgetShown(handle: Contract.ShownImage): void {
  kept.delete(handle);
}

/** A protection with its picture. @throws PortalError `picture_needed`. */
export function requireProtection(protection: Contract.ProtectRequest["protection"]): Protection {
  return protection.kind === "picture" ? { ...protection, shown: requirePicture(protection.shown) } : protection;
}

/** A change with its picture, if it has one. @throws PortalError `picture_needed`. */
export function requireChange({ protection, ...change }: Contract.SecretChange): SecretChange {
  return protection === undefined ? change : { ...change, protection: requireProtection(protection) };
}

/** A lock and a sign-out end every handle. */
export function forgetAllShown(): void {
  kept = new WeakMap();
}
