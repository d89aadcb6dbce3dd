import { useLayoutEffect, useRef, useState } from "react";
import { NavigationType, useLocation, useNavigationType } from "react-router-dom";
import { z } from "zod";

/** Session storage: how far the window was scrolled, in pixels, by the router's key of the history entry. */
const storageKey = "scrollPositions";
/** Kept: as many as anybody goes back. */
const mostPositions = 100;
const Positions = z.record(z.string(), z.number());

/**
 * Another screen begins at its top; back, forward and loading anew lead to where the window was. React Router's own
 * `ScrollRestoration` scrolls once, when most screens are still short because what they show is on its way (and it goes to
 * the top for another search, too).
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
    // Until it is there, what the window does by itself (it is too short, say) is no place that somebody left.
    let there = false;
    const undo = scrollTo(top, () => {
      there = true;
    });
    const note = () => {
      if (there) positions.set(key, window.scrollY);
    };
    window.addEventListener("scroll", note, { passive: true });
    return () => {
      undo();
      window.removeEventListener("scroll", note);
    };
  }, [key, pathname, action, positions]);
}

/** Scrolls there; again as the page grows, as long as it is too short and the person does nothing. Returns its undo. */
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
    for (const name of deeds) window.removeEventListener(name, stop, true);
    onEnd();
  };
  const growth = new ResizeObserver(() => {
    if (tried()) stop();
  });
  for (const name of deeds) window.addEventListener(name, stop, { capture: true, passive: true });
  growth.observe(document.body);
  return stop;
}

/** Windows scroll by fractions of pixels. */
const near = (top: number) => Math.abs(window.scrollY - top) <= 1;

const deeds = ["wheel", "touchmove", "keydown", "pointerdown"] as const;

/** Whether this page was loaded anew or come back to; what somebody opens begins at its top. */
function wasHere(): boolean {
  return performance.getEntriesByType("navigation").some((entry) => "type" in entry && entry.type !== "navigate");
}

function readPositions(): Map<string, number> {
  try {
    return new Map(Object.entries(Positions.parse(JSON.parse(sessionStorage.getItem(storageKey) ?? "{}"))));
  } catch {
    return new Map(); // not ours: screens begin at their top
  }
}
