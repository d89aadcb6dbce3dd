import { useEffect, useEffectEvent, useRef } from "react";
import type { Blocker, BlockerFunction } from "react-router-dom";

/** Asks the person; true when the page may be left for that path. */
export type LeaveGuard = (pathname: string) => Promise<boolean>;

const guards = new Set<LeaveGuard>();

/** While `active`, going to another path of the portal (a link, a button, back and forward) waits for the guard's answer. */
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
 * When leaving is blocked: whenever a screen holds something and another path is to be shown. For whoever owns the router, as
 * `useLeaveQuestion(useBlocker(blocksLeaving))`, once: a router asks only the last blocker, so that one asks for all guards.
 */
export const blocksLeaving: BlockerFunction = ({ currentLocation, nextLocation }) => guards.size > 0 && currentLocation.pathname !== nextLocation.pathname;

/** Asks the guards about what the blocker holds back, and lets it go or stay. */
export function useLeaveQuestion(blocker: Blocker): void {
  const latest = useRef(blocker);
  const asking = useRef(false);
  useEffect(() => {
    latest.current = blocker;
    if (blocker.state !== "blocked" || asking.current) return; // one question at a time: what is tried meanwhile is dropped
    asking.current = true;
    void mayLeave(blocker.location.pathname)
      .catch(() => false) // a guard that cannot ask keeps what it holds
      .then((may) => {
        if (latest.current.state !== "blocked") return; // the page went elsewhere by itself
        if (may) blocker.proceed();
        else blocker.reset();
      })
      .finally(() => {
        asking.current = false;
      });
  }, [blocker]);
}

/** Asks every screen that holds something, also one that began to while somebody was asked: what was on its way has come, say, and is shown only here. */
async function mayLeave(pathname: string): Promise<boolean> {
  for (const guard of guards) if (!(await guard(pathname))) return false;
  return true;
}
