import { useEffect, useState } from "react";

/** Whole seconds until then, told every second; 0 afterwards. */
export function useSecondsLeft(expiresAt: string): number {
  const [secondsLeft, setSecondsLeft] = useState(() => secondsUntil(expiresAt));
  useEffect(() => {
    const timer = setInterval(() => {
      setSecondsLeft(secondsUntil(expiresAt));
    }, 1_000);
    return () => {
      clearInterval(timer);
    };
  }, [expiresAt]);
  return secondsLeft;
}

function secondsUntil(time: string): number {
  return Math.max(0, Math.ceil((Date.parse(time) - Date.now()) / 1_000));
}
