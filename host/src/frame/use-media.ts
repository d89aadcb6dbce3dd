import { breakpoints } from "@relicario/shared/ui";
import { useCallback, useSyncExternalStore } from "react";

/** Whether a media query matches. */
function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const list = window.matchMedia(query);
      list.addEventListener("change", listener);
      return () => {
        list.removeEventListener("change", listener);
      };
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}

/** Whether the window is below 640 px, where the frame has its bottom bar. */
export function useMobile(): boolean {
  return useMedia(`(max-width: ${String(breakpoints.mobile - 0.02)}px)`);
}
