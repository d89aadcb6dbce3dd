import { useRef, type PointerEvent } from "react";

/** Shortest movement that counts as a swipe, in pixels (specification, section 9). */
export const swipeThreshold = 10;

interface SwipeHandlers {
  readonly onPointerDown: (event: PointerEvent) => void;
  readonly onPointerUp: (event: PointerEvent) => void;
  readonly onPointerCancel: () => void;
}

/** Detects horizontal swipes: left for next, right for back. */
export function useSwipe({
  onLeft,
  onRight,
}: {
  readonly onLeft: () => void;
  readonly onRight: () => void;
}): SwipeHandlers {
  const startX = useRef<number | null>(null);
  return {
    onPointerDown: (event) => {
      startX.current = event.clientX;
    },
    onPointerUp: (event) => {
      if (startX.current === null) return;
      const distance = event.clientX - startX.current;
      startX.current = null;
      if (distance <= -swipeThreshold) onLeft();
      else if (distance >= swipeThreshold) onRight();
    },
    onPointerCancel: () => {
      startX.current = null;
    },
  };
}
