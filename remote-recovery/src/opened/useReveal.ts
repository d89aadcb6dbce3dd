import { useEffect, useState } from "react";

/** How long a revealed secret stays on the screen, in milliseconds. */
export const revealMilliseconds = 60_000;

/**
 * Reveals on request. Hides after a minute, when the window loses the focus, and when its tab is
 * hidden.
 */
export function useReveal() {
  const [revealed, setRevealed] = useState(false);
  useEffect(() => {
    if (!revealed) return undefined;
    const hide = () => {
      setRevealed(false);
    };
    const hideWhenTabHidden = () => {
      if (document.visibilityState === "hidden") hide();
    };
    const timer = setTimeout(hide, revealMilliseconds);
    window.addEventListener("blur", hide);
    document.addEventListener("visibilitychange", hideWhenTabHidden);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("blur", hide);
      document.removeEventListener("visibilitychange", hideWhenTabHidden);
    };
  }, [revealed]);
  return { revealed, setRevealed };
}
