import { useEffect, useEffectEvent, useRef } from "react";
import type { Blocker, BlockerFunction } from "react-router-dom";

/** Asks the person; true when the page may be left for that path. */
export type LeaveGuard = (pathname: string) => Promise<boolean>;

const guards = new Set<LeaveGuard>();

/**
 * While `active`, going to another path of the portal (a link, a button, back and forward) waits
 * for the guard's answer.
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
 * Blocks a navigation to another path while a guard is active. Used once, by the owner of the
 * router, as `useLeaveConfirmation(useBlocker(shouldBlockLeaving))`: a router supports a single
 * blocker, so that one asks all guards.
 */
export const shouldBlockLeaving: BlockerFunction = ({ currentLocation, nextLocation }) =>
  guards.size > 0 && currentLocation.pathname !== nextLocation.pathname;

/** Asks the guards about a blocked navigation, then proceeds with it or resets it. */
export function useLeaveConfirmation(blocker: Blocker): void {
  const latestBlocker = useRef(blocker);
  const isAsking = useRef(false);
  useEffect(() => {
    latestBlocker.current = blocker;
    // one question at a time: navigations that are tried meanwhile are dropped
    if (blocker.state !== "blocked" || isAsking.current) return;
    isAsking.current = true;
    void askGuards(blocker.location.pathname)
      .catch(() => false) // a guard that fails prevents leaving
      .then((allowed) => {
        if (latestBlocker.current.state !== "blocked") return; // the navigation was cancelled meanwhile
        if (allowed) blocker.proceed();
        else blocker.reset();
      })
      .finally(() => {
        isAsking.current = false;
      });
  }, [blocker]);
}

/**
 * Asks every active guard, also one that became active during a question, such as when data that is
 * shown only here arrived.
 */
async function askGuards(pathname: string): Promise<boolean> {
  for (const guard of guards) if (!(await guard(pathname))) return false;
  return true;
}
