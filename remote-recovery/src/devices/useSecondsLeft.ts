import { useEffect, useState } from "react";

/** Whole seconds until expiry, updated every second; 0 afterwards. */
export function useSecondsLeft(expiresAt: string): number {
  const [secondsLeft, setSecondsLeft] = useState(() => getSecondsUntil(expiresAt));
  useEffect(() => {
    const timer = setInterval(() => {
      setSecondsLeft(getSecondsUntil(expiresAt));
    }, 1_000);
    return () => {
      clearInterval(timer);
    };
  }, [expiresAt]);
  return secondsLeft;
}

function getSecondsUntil(time: string): number {
  return Math.max(0, Math.ceil((Date.parse(time) - Date.now()) / 1_000));
}
