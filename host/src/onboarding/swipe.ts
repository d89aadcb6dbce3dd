import { useRef, type PointerEvent } from "react";

/** The shortest movement that counts as a swipe, in pixels (specification, section 9). */
export const swipeThreshold = 10;

interface SwipeHandlers {
  readonly onPointerDown: (event: PointerEvent) => void;
  readonly onPointerUp: (event: PointerEvent) => void;
  readonly onPointerCancel: () => void;
}

/** Left for next, right for back. */
export function useSwipe({
  onLeft,
  onRight,
}: {
  readonly onLeft: () => void;
  readonly onRight: () => void;
}): SwipeHandlers {
  const from = useRef<number | null>(null);
  return {
    onPointerDown: (event) => {
      from.current = event.clientX;
    },
    onPointerUp: (event) => {
      if (from.current === null) return;
      const moved = event.clientX - from.current;
      from.current = null;
      if (moved <= -swipeThreshold) onLeft();
      else if (moved >= swipeThreshold) onRight();
    },
    onPointerCancel: () => {
      from.current = null;
    },
  };
}
