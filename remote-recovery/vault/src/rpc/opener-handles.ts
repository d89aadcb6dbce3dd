import type { OpenerHandle } from "@relicario/shared/contract";

import {
  adoptHandle,
  isOpenerHandle,
  isPresentedKey,
  presentKey,
  presentPicture,
  releaseOpener,
  requirePresented,
  type PresentedOpener,
} from "./presented-opener.ts";

/**
 * [Note: Handles cross]
 * 1. Vault's frame: finds the handles among the arguments of a call, and sends each paired with its
 *    opener in the same message as the arguments. Rejects released handles.
 * 2. Worker: a structured clone keeps the identity of objects within a message, so the handle of a
 *    pair is the same object as the one among the arguments. The worker maps this handle to its
 *    opener.
 * 3. Worker: the operation resolves the argument that must be a handle (`requirePresentedPicture`
 *    and similar). An object without a pair, such as a copied handle or a picture, is rejected with
 *    `picture_needed`.
 */
export type PresentedHandles = readonly (readonly [handle: OpenerHandle, presentedOpener: PresentedOpener])[];

/**
 * The frame's side.
 * @throws PortalError `picture_needed` for a released handle
 */
export function collectHandles(args: readonly unknown[]): PresentedHandles {
  return findMembers(args, isOpenerHandle).map((handle) => [handle, requirePresented(handle)]);
}

/** The worker's side. */
export function receiveHandles(handles: PresentedHandles): void {
  for (const [handle, presentedOpener] of handles) adoptHandle(handle, presentedOpener);
}

/**
 * Replaces handles that crossed from the page, which are plain objects here, by handles of this
 * thread.
 */
export function adoptCrossedHandles(
  handles: readonly (readonly [crossedHandle: object, presentedOpener: PresentedOpener])[],
  args: readonly unknown[],
): { readonly adoptedArgs: readonly unknown[]; readonly release: () => void } {
  const adoptedHandles = new Map(
    handles.map(([crossedHandle, presentedOpener]) => [
      crossedHandle,
      isPresentedKey(presentedOpener) ? presentKey(presentedOpener) : presentPicture(presentedOpener),
    ]),
  );
  const adopt = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    const adoptedHandle = adoptedHandles.get(value);
    if (adoptedHandle !== undefined) return adoptedHandle;
    if (Array.isArray(value)) return value.map(adopt);
    if (!isPlainObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, adopt(member)]));
  };
  return {
    adoptedArgs: args.map(adopt),
    release: () => {
      for (const handle of adoptedHandles.values()) releaseOpener(handle);
    },
  };
}

/** Finds values inside arrays and plain objects. */
export function findMembers<T>(value: unknown, isMember: (value: unknown) => value is T): readonly T[] {
  if (isMember(value)) return [value];
  const members: readonly unknown[] = Array.isArray(value) ? value : isPlainObject(value) ? Object.values(value) : [];
  return members.flatMap((member) => findMembers(member, isMember));
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) === null; // of any realm
}
