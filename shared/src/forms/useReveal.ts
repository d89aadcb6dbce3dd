import { useEffect, useState } from "react";

/** How long a secret stays on the screen. */
export const revealMilliseconds = 60_000;

/**
 * Shown on request; hidden again after a minute, when the window loses focus, and when it is
 * covered.
 */
export function useReveal() {
  const [revealed, setRevealed] = useState(false);
  useEffect(() => {
    if (!revealed) return undefined;
    const hide = () => {
      setRevealed(false);
    };
    const hideWhenCovered = () => {
      if (document.visibilityState === "hidden") hide();
    };
    const timer = setTimeout(hide, revealMilliseconds);
    window.addEventListener("blur", hide);
    document.addEventListener("visibilitychange", hideWhenCovered);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("blur", hide);
      document.removeEventListener("visibilitychange", hideWhenCovered);
    };
  }, [revealed]);
  return { revealed, setRevealed };
}
