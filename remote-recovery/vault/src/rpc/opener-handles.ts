import type { OpenerHandle } from "@relicario/shared/contract";

import { adoptHandle, isOpenerHandle, requirePresented, type PresentedOpener } from "./presented-opener.ts";

/**
 * [Note: Handles cross]
 * 1. Page: finds the handles among the arguments of a call, and sends each with what it stands for
 *    in front of the arguments, in the same message. One that was forgotten goes no further.
 * 2. Worker: a structured clone keeps who is who within a message, so the handle of such a pair is
 *    the one among the arguments. From there it stands for the same.
 * 3. Worker: the operation asks for what it needs by the place of the argument
 *    (`requirePresentedPicture` and its like). Whatever stands there and came in no pair, a copy of
 *    a handle or a picture of its own, is refused with `picture_needed`.
 */
export type PresentedHandles = readonly (readonly [handle: OpenerHandle, presentedOpener: PresentedOpener])[];

/** Those among the arguments. @throws PortalError `picture_needed` for a forgotten one. */
export function collectHandles(args: readonly unknown[]): PresentedHandles {
  return findHandles(args).map((handle) => [handle, requirePresented(handle)]);
}

/** The worker's side. */
export function receiveHandles(handles: PresentedHandles): void {
  for (const [handle, presentedOpener] of handles) adoptHandle(handle, presentedOpener);
}

function findHandles(value: unknown): readonly OpenerHandle[] {
  if (isOpenerHandle(value)) return [value];
  if (Array.isArray(value)) return value.flatMap(findHandles);
  return isPlainObject(value) ? Object.values(value).flatMap(findHandles) : [];
}

function isPlainObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
