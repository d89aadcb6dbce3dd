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
  const ask = useEffectEvent(guard);
  useEffect(() => {
    if (!active) return undefined;
    const mine: LeaveGuard = (pathname) => ask(pathname);
    guards.add(mine);
    return () => {
      guards.delete(mine);
    };
  }, [active]);
}

/**
 * Blocks a navigation to another path while a guard is active. Used once, by the owner of the
 * router, as `useLeaveQuestion(useBlocker(blocksLeaving))`: a router supports a single blocker, so
 * that one asks all guards.
 */
export const blocksLeaving: BlockerFunction = ({ currentLocation, nextLocation }) =>
  guards.size > 0 && currentLocation.pathname !== nextLocation.pathname;

/** Asks the guards about a blocked navigation, then proceeds with it or resets it. */
export function useLeaveQuestion(blocker: Blocker): void {
  const latest = useRef(blocker);
  const asking = useRef(false);
  useEffect(() => {
    latest.current = blocker;
    // one question at a time: navigations that are tried meanwhile are dropped
    if (blocker.state !== "blocked" || asking.current) return;
    asking.current = true;
    void mayLeave(blocker.location.pathname)
      .catch(() => false) // a guard that fails prevents leaving
      .then((may) => {
        if (latest.current.state !== "blocked") return; // the navigation was cancelled meanwhile
        if (may) blocker.proceed();
        else blocker.reset();
      })
      .finally(() => {
        asking.current = false;
      });
  }, [blocker]);
}

/**
 * Asks every active guard, also one that became active during a question, such as when data that is
 * shown only here arrived.
 */
async function mayLeave(pathname: string): Promise<boolean> {
  for (const guard of guards) if (!(await guard(pathname))) return false;
  return true;
}
