import type { OpenedHandle, OpenerHandle } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { findMembers } from "../rpc/opener-handles.ts";

/** A class, because form libraries copy plain objects, and a copied handle is invalid. */
class PageHandle implements OpenerHandle {
  readonly [Symbol.toStringTag] = "OpenerHandle";
}

class PageOpenedHandle implements OpenedHandle {
  readonly [Symbol.toStringTag] = "OpenedHandle";
}

const openedIds = new WeakMap<OpenedHandle, string>();

/** Creates the page's handle of a content that the vault's frame holds. */
export function createOpenedHandle(openedId: string): OpenedHandle {
  const handle = Object.freeze(new PageOpenedHandle());
  openedIds.set(handle, openedId);
  return handle;
}

/** @throws PortalError `vault_locked` for any other object */
export function requireOpenedId(handle: OpenedHandle): string {
  const openedId = openedIds.get(handle);
  if (openedId === undefined) throw new PortalError("vault_locked");
  return openedId;
}

let idsByHandle = new WeakMap<OpenerHandle, string>();
const handlesById = new Map<string, OpenerHandle>();

/** Returns the page's only handle of an opener that the vault's frame holds. */
export function createHandle(heldId: string): OpenerHandle {
  const existing = handlesById.get(heldId);
  if (existing !== undefined) return existing;
  const handle = Object.freeze(new PageHandle());
  handlesById.set(heldId, handle);
  idsByHandle.set(handle, heldId);
  return handle;
}

/** Null for a released handle, and for a copy. */
export function getHeldId(handle: OpenerHandle): string | null {
  return idsByHandle.get(handle) ?? null;
}

/** Returns the id of the opener to release; null if it is released already. */
export function dropHandle(handle: OpenerHandle): string | null {
  const heldId = getHeldId(handle);
  idsByHandle.delete(handle);
  if (heldId !== null) handlesById.delete(heldId);
  return heldId;
}

/** Called on lock and sign-out. */
export function dropAllHandles(): void {
  idsByHandle = new WeakMap();
  handlesById.clear();
}

/**
 * Finds the handles among the arguments of a call.
 * @throws PortalError `picture_needed` for a released handle
 */
export function collectHeldIds(args: readonly unknown[]): readonly (readonly [OpenerHandle, string])[] {
  return findMembers(args, (value): value is OpenerHandle => value instanceof PageHandle).map((handle) => {
    const heldId = getHeldId(handle);
    if (heldId === null) throw new PortalError("picture_needed");
    return [handle, heldId];
  });
}
