import { pageStorage } from "@relicario/shared/contract";
import { useLayoutEffect, useRef, useState } from "react";
import { NavigationType, useLocation, useNavigationType } from "react-router-dom";
import { z } from "zod";

/**
 * Session storage key of the scroll positions in pixels. They are stored by the router's key of the
 * history entry.
 */
const storageKey = "scrollPositions";
const maxPositions = 100;
const Positions = z.record(z.string(), z.number());

/**
 * Scrolls a new screen to its top. Restores the position after back, forward and reload.
 *
 * React Router's `ScrollRestoration` does not fit. It scrolls only once, when most screens are
 * still short because their data is loading. It also scrolls to the top when only the search
 * changes.
 */
export function useScrollRestoration(): void {
  const { key, pathname } = useLocation();
  const action = useNavigationType();
  const [positions] = useState(readPositions);
  const lastPathname = useRef<string>(null);

  useLayoutEffect(() => {
    window.history.scrollRestoration = "manual";
    const savePositions = () => {
      pageStorage.session.setItem(storageKey, JSON.stringify(Object.fromEntries([...positions].slice(-maxPositions))));
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
    // Until the position is restored, the browser itself may scroll because the page is too short.
    // Scroll events are not recorded until then.
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
 * Scrolls to `top` again whenever the page grows, until it is tall enough, the person interacts, or
 * the screen focuses something of its own. Returns a stop function.
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
    window.removeEventListener("blur", stop);
    document.removeEventListener("focusin", handleFocus);
    onEnd();
  };
  const handleFocus = ({ target }: FocusEvent) => {
    if (target instanceof Element && !target.matches("h1, main")) stop(); // focus-heading.ts focuses these
  };
  const resizeObserver = new ResizeObserver(() => {
    if (tryScroll()) stop();
  });
  for (const name of userEvents) window.addEventListener(name, stop, { capture: true, passive: true });
  window.addEventListener("blur", stop); // a frame has the focus, and gets the person's events
  document.addEventListener("focusin", handleFocus);
  resizeObserver.observe(document.body);
  return stop;
}

/** Whether the position is within one pixel, because scroll positions may be fractional. */
const isNear = (top: number) => Math.abs(window.scrollY - top) <= 1;

const userEvents = ["wheel", "touchmove", "keydown", "pointerdown"] as const;

/**
 * Whether this page was reloaded, or reached by back or forward. A newly opened page starts at its
 * top.
 */
function isReturnVisit(): boolean {
  return performance.getEntriesByType("navigation").some((entry) => "type" in entry && entry.type !== "navigate");
}

function readPositions(): Map<string, number> {
  try {
    return new Map(Object.entries(Positions.parse(JSON.parse(pageStorage.session.getItem(storageKey) ?? "{}"))));
  } catch {
    return new Map(); // unreadable: screens start at their top
  }
}
