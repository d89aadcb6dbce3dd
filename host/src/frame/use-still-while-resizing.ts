import { layoutBlockMilliseconds } from "@relicario/shared/ui";
import { useEffect } from "react";

/**
 * While the window changes its size, and 250 ms after, changes of layout are drawn at once instead of moving: the root
 * element says so to the page's styles (`data-resizing`, GlobalStyle).
 */
export function useStillWhileResizing(): void {
  useEffect(() => {
    const root = document.documentElement;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const release = () => {
      root.removeAttribute("data-resizing");
    };
    const handleResize = () => {
      root.setAttribute("data-resizing", "");
      clearTimeout(timer);
      timer = setTimeout(release, layoutBlockMilliseconds);
    };
    window.addEventListener("resize", handleResize);
    return () => {
      window.removeEventListener("resize", handleResize);
      clearTimeout(timer);
      release();
    };
  }, []);
}
