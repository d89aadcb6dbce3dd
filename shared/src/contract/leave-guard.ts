import { useEffect, useEffectEvent, useRef } from "react";
import type { Blocker, BlockerFunction } from "react-router-dom";

/** Asks whether the person may leave for `pathname`. Resolves with true to allow it. */
export type LeaveGuard = (pathname: string) => Promise<boolean>;

const guards = new Set<LeaveGuard>();

/**
 * While `active`, lets the guard decide about each navigation to another path of the portal (link,
 * button, back, forward).
 */
export function useLeaveGuard(active: boolean, guard: LeaveGuard): void {
  const askGuard = useEffectEvent(guard);
  useEffect(() => {
    if (!active) return undefined;
    const registered: LeaveGuard = (pathname) => askGuard(pathname);
    guards.add(registered);
    return () => {
      guards.delete(registered);
    };
  }, [active]);
}

/**
 * Blocks navigation to another path while a guard is active. A router supports only one blocker, so
 * the owner of the router calls `useLeaveConfirmation(useBlocker(shouldBlockLeaving))` once for all
 * guards.
 */
export const shouldBlockLeaving: BlockerFunction = ({ currentLocation, nextLocation }) =>
  guards.size > 0 && currentLocation.pathname !== nextLocation.pathname;

/** Asks the guards about a blocked navigation, then proceeds with it or resets it. */
export function useLeaveConfirmation(blocker: Blocker): void {
  const latestBlocker = useRef(blocker);
  const isAsking = useRef(false);
  useEffect(() => {
    latestBlocker.current = blocker;
    // one question at a time: other navigations during a question are ignored
    if (blocker.state !== "blocked" || isAsking.current) return;
    isAsking.current = true;
    void askGuards(blocker.location.pathname)
      .catch(() => false) // a guard that fails prevents leaving
      .then((allowed) => {
        if (latestBlocker.current.state !== "blocked") return; // the navigation was cancelled during the question
        if (allowed) blocker.proceed();
        else blocker.reset();
      })
      .finally(() => {
        isAsking.current = false;
      });
  }, [blocker]);
}

/**
 * Asks every active guard. Includes a guard that becomes active during a question, because the
 * iteration of a `Set` visits members added during it.
 */
async function askGuards(pathname: string): Promise<boolean> {
  for (const guard of guards) if (!(await guard(pathname))) return false;
  return true;
}
