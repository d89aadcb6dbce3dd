import { useEffect, useEffectEvent } from "react";

/** Asks the person; true when the page may be left for that path. */
export type LeaveGuard = (pathname: string) => Promise<boolean>;

const guards = new Set<LeaveGuard>();

/** Whether a screen holds something that leaving it would lose. */
export function isGuarded(): boolean {
  return guards.size > 0;
}

/**
 * Asks every screen that holds something, also one that began to while somebody was asked: what was on its way has come, say,
 * and is shown only here. For the host, before it goes to another path.
 */
export async function mayLeave(pathname: string): Promise<boolean> {
  for (const guard of guards) if (!(await guard(pathname))) return false;
  return true;
}

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
