import { layoutBlockMilliseconds } from "@relicario/shared/ui";
import { useEffect } from "react";

/**
 * Disables layout animations while the window is resized and for 250 ms after that. Sets
 * `data-resizing` on the root element (see GlobalStyle).
 */
export function useDisableMotionOnResize(): void {
  useEffect(() => {
    const root = document.documentElement;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const enableMotion = () => {
      root.removeAttribute("data-resizing");
    };
    const handleResize = () => {
      root.setAttribute("data-resizing", "");
      clearTimeout(timer);
      timer = setTimeout(enableMotion, layoutBlockMilliseconds);
    };
    window.addEventListener("resize", handleResize);
    return () => {
      window.removeEventListener("resize", handleResize);
      clearTimeout(timer);
      enableMotion();
    };
  }, []);
}
