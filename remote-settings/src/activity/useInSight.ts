import { useCallback, useEffect, useEffectEvent, useState } from "react";

/** So far below the edge of the window something counts as in sight. */
const ahead = "400px";

/**
 * Calls `onSight` when the element comes near the window, while `active`. @returns the ref of the
 * element.
 */
export function useInSight(active: boolean, onSight: () => void): (element: Element | null) => void {
  const [element, setElement] = useState<Element | null>(null);
  const tell = useEffectEvent(onSight);
  useEffect(() => {
    if (!active || element === null) return undefined;
    const observer = new IntersectionObserver(
      (seen) => {
        if (seen.some(({ isIntersecting }) => isIntersecting)) tell();
      },
      { rootMargin: ahead },
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
    };
  }, [active, element]);
  return useCallback((found) => {
    setElement(found);
  }, []);
}
