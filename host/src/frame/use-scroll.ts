import { useLayoutEffect, useRef, useState } from "react";
import { NavigationType, useLocation, useNavigationType } from "react-router-dom";
import { z } from "zod";

/**
 * Session storage: how far the window was scrolled, in pixels, by the router's key of the history
 * entry.
 */
const storageKey = "scrollPositions";
/** How many positions are stored. */
const maxPositions = 100;
const Positions = z.record(z.string(), z.number());

/**
 * Scrolls a new screen to its top; back, forward and reload restore the position. React Router's
 * own `ScrollRestoration` scrolls once, when most screens are still short because their data is
 * being loaded. It also scrolls to the top when only the search changes.
 */
export function useScrollRestoration(): void {
  const { key, pathname } = useLocation();
  const action = useNavigationType();
  const [positions] = useState(readPositions);
  const lastPathname = useRef<string>(null);

  useLayoutEffect(() => {
    window.history.scrollRestoration = "manual";
    const savePositions = () => {
      sessionStorage.setItem(storageKey, JSON.stringify(Object.fromEntries([...positions].slice(-maxPositions))));
    };
    window.addEventListener("pagehide", savePositions);
    return () => {
      window.removeEventListener("pagehide", savePositions);
    };
  }, [positions]);

  useLayoutEffect(() => {
    const isFirst = lastPathname.current === null;
    const isSamePath = lastPathname.current === pathname;
    lastPathname.current = pathname;
    const savedTop = action === NavigationType.Pop && (!isFirst || isReturnVisit()) ? positions.get(key) : undefined;
    const top = savedTop ?? (isFirst || isSamePath ? window.scrollY : 0);
    positions.set(key, top);
    // Until the position is restored, scroll events come from the window itself (it is still too
    // short) and are not stored.
    let isRestored = false;
    const stopScrolling = restoreScroll(top, () => {
      isRestored = true;
    });
    const recordPosition = () => {
      if (isRestored) positions.set(key, window.scrollY);
    };
    window.addEventListener("scroll", recordPosition, { passive: true });
    return () => {
      stopScrolling();
      window.removeEventListener("scroll", recordPosition);
    };
  }, [key, pathname, action, positions]);
}

/**
 * Scrolls to `top`; repeatedly while the page grows, until it is long enough or the person does
 * something. Returns its undo.
 */
function restoreScroll(top: number, onEnd: () => void): () => void {
  const tryScroll = () => {
    if (!isNear(top)) window.scrollTo({ top, behavior: "instant" });
    return isNear(top);
  };
  if (tryScroll()) {
    onEnd();
    return () => undefined;
  }
  const stop = () => {
    resizeObserver.disconnect();
    for (const name of userEvents) window.removeEventListener(name, stop, true);
    onEnd();
  };
  const resizeObserver = new ResizeObserver(() => {
    if (tryScroll()) stop();
  });
  for (const name of userEvents) window.addEventListener(name, stop, { capture: true, passive: true });
  resizeObserver.observe(document.body);
  return stop;
}

/** Scroll positions may be fractions of pixels. */
const isNear = (top: number) => Math.abs(window.scrollY - top) <= 1;

const userEvents = ["wheel", "touchmove", "keydown", "pointerdown"] as const;

/**
 * Whether this page was reloaded or reached by back or forward; a page that was opened begins at
 * its top.
 */
function isReturnVisit(): boolean {
  return performance.getEntriesByType("navigation").some((entry) => "type" in entry && entry.type !== "navigate");
}

function readPositions(): Map<string, number> {
  try {
    return new Map(Object.entries(Positions.parse(JSON.parse(sessionStorage.getItem(storageKey) ?? "{}"))));
  } catch {
    return new Map(); // another format: screens begin at their top
  }
}
