import { useEffect, useLayoutEffect, useRef, useSyncExternalStore, type RefObject } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router-dom";

import { useHost } from "../context/host-context.ts";
import { useCurrentRoute } from "../context/use-current-route.ts";
import { focusHeading } from "./focus-heading.ts";
import { useScrollRestoration } from "./use-scroll.ts";

/**
 * What happens on every change of route: the document gets the title of the route, the focus moves
 * to the new screen, and the window scrolls to the top, or to where it was when the screen was
 * left.
 */
export function useRouteChange(main: RefObject<HTMLElement | null>): void {
  useTitle();
  useFocus(main);
  useScrollRestoration();
}

/**
 * Sets the title to that of the route and the product. A screen may set a more specific title in an
 * effect, such as the name of a secret; that is kept.
 */
function useTitle(): void {
  const route = useCurrentRoute();
  const { verified } = useHost();
  const { i18n } = useTranslation();
  const product = verified.deployment.branding.product_name;
  const title = useSyncExternalStore(
    (onChange) => {
      i18n.on("loaded", onChange); // the texts of a remote are loaded with its code
      i18n.on("languageChanged", onChange);
      return () => {
        i18n.off("loaded", onChange);
        i18n.off("languageChanged", onChange);
      };
    },
    () => (route !== null && i18n.exists(route.titleKey) ? `${i18n.t(route.titleKey)} · ${product}` : product),
  );
  const lastTitle = useRef<{ readonly route: unknown; readonly title: string }>(null);
  // A layout effect runs before the effects in which screens set their own title.
  useLayoutEffect(() => {
    const isRefined = lastTitle.current?.route === route && document.title !== lastTitle.current.title;
    if (!isRefined) document.title = title;
    lastTitle.current = { route, title };
  }, [route, title]);
}

/**
 * Moves the focus to the heading of the screen when the path changes. Not for the first screen, nor
 * when only search or hash change.
 */
function useFocus(main: RefObject<HTMLElement | null>): void {
  const { pathname } = useLocation();
  const lastPathname = useRef(pathname);
  const previousFocus = useRef<Element>(null);
  // The cleanup of a layout effect runs after the old screen was removed and before a field of the
  // new one takes the focus.
  useLayoutEffect(
    () => () => {
      previousFocus.current = document.activeElement;
    },
    [pathname],
  );
  useEffect(() => {
    if (main.current === null || lastPathname.current === pathname) return undefined;
    lastPathname.current = pathname;
    return focusHeading(main.current, previousFocus.current);
  }, [main, pathname]);
}
