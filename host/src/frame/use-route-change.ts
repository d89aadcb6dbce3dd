import { useEffect, useLayoutEffect, useRef, useSyncExternalStore, type RefObject } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router-dom";

import { useHost } from "../context/host-context.ts";
import { useCurrentRoute } from "../context/use-current-route.ts";
import { focusHeading } from "./focus-heading.ts";
import { useScrollRestoration } from "./use-scroll-restoration.ts";

/**
 * On every change of route: sets the document's title, moves the focus to the new screen, and
 * scrolls to the top. After back or forward it restores the scroll position of that screen.
 */
export function useRouteChange(main: RefObject<HTMLElement | null>): void {
  useTitle();
  useFocus(main);
  useScrollRestoration();
}

/**
 * Sets the document's title to the titles of the route and the product. A screen may replace it in
 * an effect, for example with the name of a secret; that title then stays.
 */
function useTitle(): void {
  const route = useCurrentRoute();
  const { verifiedDeployment } = useHost();
  const { i18n } = useTranslation();
  const product = verifiedDeployment.deployment.branding.product_name;
  const title = useSyncExternalStore(
    (onChange) => {
      i18n.on("loaded", onChange); // a remote's texts load with its code
      i18n.on("languageChanged", onChange);
      return () => {
        i18n.off("loaded", onChange);
        i18n.off("languageChanged", onChange);
      };
    },
    () => (route !== null && i18n.exists(route.titleKey) ? `${i18n.t(route.titleKey)} · ${product}` : product),
  );
  const lastTitle = useRef<{ readonly route: unknown; readonly title: string }>(null);
  // A layout effect runs before the effects in which screens set their title.
  useLayoutEffect(() => {
    const isRefined = lastTitle.current?.route === route && document.title !== lastTitle.current.title;
    if (!isRefined) document.title = title;
    lastTitle.current = { route, title };
  }, [route, title]);
}

/**
 * Moves the focus to the screen's heading when the path changes. Does nothing on the first screen,
 * and when only the search or hash changes.
 */
function useFocus(main: RefObject<HTMLElement | null>): void {
  const { pathname } = useLocation();
  const lastPathname = useRef(pathname);
  const previousFocus = useRef<Element>(null);
  // The cleanup of a layout effect runs after the old screen was removed, and before a field of the
  // new screen takes the focus.
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
