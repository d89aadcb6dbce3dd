import { breakpoints } from "@relicario/shared/ui";
import { useCallback, useSyncExternalStore } from "react";

function useMediaQuery(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const mediaQueryList = window.matchMedia(query);
      mediaQueryList.addEventListener("change", listener);
      return () => {
        mediaQueryList.removeEventListener("change", listener);
      };
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}

/** Whether the window is narrower than 640 px. The frame then has a bottom bar. */
export function useIsMobile(): boolean {
  return useMediaQuery(`(max-width: ${String(breakpoints.mobile - 0.02)}px)`);
}
