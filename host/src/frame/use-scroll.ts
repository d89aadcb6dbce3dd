import { useLayoutEffect, useRef, useState } from "react";
import { NavigationType, useLocation, useNavigationType } from "react-router-dom";
import { z } from "zod";

/**
 * Session storage: how far the window was scrolled, in pixels, by the router's key of the history
 * entry.
 */
const storageKey = "scrollPositions";
/** How many positions are stored. */
const mostPositions = 100;
const Positions = z.record(z.string(), z.number());

/**
 * Scrolls a new screen to its top; back, forward and reload restore the position. React Router's
 * own `ScrollRestoration` scrolls once, when most screens are still short because their data is
 * being loaded. It also scrolls to the top when only the search changes.
 */
export function useScroll(): void {
  const { key, pathname } = useLocation();
  const action = useNavigationType();
  const [positions] = useState(readPositions);
  const shown = useRef<string>(null);

  useLayoutEffect(() => {
    window.history.scrollRestoration = "manual";
    const keep = () => {
      sessionStorage.setItem(storageKey, JSON.stringify(Object.fromEntries([...positions].slice(-mostPositions))));
    };
    window.addEventListener("pagehide", keep);
    return () => {
      window.removeEventListener("pagehide", keep);
    };
  }, [positions]);

  useLayoutEffect(() => {
    const first = shown.current === null;
    const same = shown.current === pathname;
    shown.current = pathname;
    const before = action === NavigationType.Pop && (!first || wasHere()) ? positions.get(key) : undefined;
    const top = before ?? (first || same ? window.scrollY : 0);
    positions.set(key, top);
    // Until the position is restored, scroll events come from the window itself (it is still too
    // short) and are not stored.
    let restored = false;
    const undo = scrollTo(top, () => {
      restored = true;
    });
    const note = () => {
      if (restored) positions.set(key, window.scrollY);
    };
    window.addEventListener("scroll", note, { passive: true });
    return () => {
      undo();
      window.removeEventListener("scroll", note);
    };
  }, [key, pathname, action, positions]);
}

/**
 * Scrolls to `top`; repeatedly while the page grows, until it is long enough or the person does
 * something. Returns its undo.
 */
function scrollTo(top: number, onEnd: () => void): () => void {
  const tried = () => {
    if (!near(top)) window.scrollTo({ top, behavior: "instant" });
    return near(top);
  };
  if (tried()) {
    onEnd();
    return () => undefined;
  }
  const stop = () => {
    growth.disconnect();
    for (const name of userEvents) window.removeEventListener(name, stop, true);
    onEnd();
  };
  const growth = new ResizeObserver(() => {
    if (tried()) stop();
  });
  for (const name of userEvents) window.addEventListener(name, stop, { capture: true, passive: true });
  growth.observe(document.body);
  return stop;
}

/** Scroll positions may be fractions of pixels. */
const near = (top: number) => Math.abs(window.scrollY - top) <= 1;

const userEvents = ["wheel", "touchmove", "keydown", "pointerdown"] as const;

/**
 * Whether this page was reloaded or reached by back or forward; a page that was opened begins at
 * its top.
 */
function wasHere(): boolean {
  return performance.getEntriesByType("navigation").some((entry) => "type" in entry && entry.type !== "navigate");
}

function readPositions(): Map<string, number> {
  try {
    return new Map(Object.entries(Positions.parse(JSON.parse(sessionStorage.getItem(storageKey) ?? "{}"))));
  } catch {
    return new Map(); // another format: screens begin at their top
  }
}
