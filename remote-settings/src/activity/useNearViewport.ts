import { useCallback, useEffect, useEffectEvent, useState } from "react";

/** Distance from the viewport within which an element counts as near. */
const viewportMargin = "400px";

/**
 * Calls `onNear` when the element comes near the viewport, while `active`.
 * @returns ref of the element
 */
export function useNearViewport(active: boolean, onNear: () => void): (element: Element | null) => void {
  const [element, setElement] = useState<Element | null>(null);
  const notifyNear = useEffectEvent(onNear);
  useEffect(() => {
    if (!active || element === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) notifyNear();
      },
      { rootMargin: viewportMargin },
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
    };
  }, [active, element]);
  return useCallback((node) => {
    setElement(node);
  }, []);
}
