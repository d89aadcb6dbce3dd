import { useEffect, useRef, type RefObject } from "react";

/**
 * The element takes the focus when it comes, so that what took the place of a pressed button is in sight, and keyboard and screen
 * reader go on from it. It needs `tabIndex={-1}`.
 */
export function useFocused<Element extends HTMLElement>(): RefObject<Element | null> {
  const place = useRef<Element>(null);
  useEffect(() => {
    place.current?.focus();
  }, []);
  return place;
}
