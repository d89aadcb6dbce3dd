import { useEffect, useLayoutEffect, useRef, useSyncExternalStore, type RefObject } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router-dom";

import { useHost } from "../host-context.ts";
import { useCurrentRoute } from "../use-current-route.ts";
import { focusOnArrival } from "./focus-on-arrival.ts";
import { useScroll } from "./use-scroll.ts";

/**
 * What happens on every change of route, whoever's screen it is: the window has the title of the route, keyboard and screen
 * readers begin at the new screen, and it is shown from its top, or from where it was left.
 */
export function useRouteChange(main: RefObject<HTMLElement | null>): void {
  useTitle();
  useFocus(main);
  useScroll();
}

/** The title of the route and the product. A screen that knows more (the name of a secret, say) says so after it, and is left alone. */
function useTitle(): void {
  const route = useCurrentRoute();
  const { verified } = useHost();
  const { i18n } = useTranslation();
  const product = verified.deployment.branding.product_name;
  const title = useSyncExternalStore(
    (onChange) => {
      i18n.on("loaded", onChange); // texts of a remote come with it
      i18n.on("languageChanged", onChange);
      return () => {
        i18n.off("loaded", onChange);
        i18n.off("languageChanged", onChange);
      };
    },
    () => (route !== null && i18n.exists(route.titleKey) ? `${i18n.t(route.titleKey)} · ${product}` : product),
  );
  const given = useRef<{ readonly route: unknown; readonly title: string }>(null);
  // In the layout phase, so that what the screen says in an effect comes later.
  useLayoutEffect(() => {
    const refined = given.current?.route === route && document.title !== given.current.title;
    if (!refined) document.title = title;
    given.current = { route, title };
  }, [route, title]);
}

/** Another path takes the focus to the heading of its screen. The first screen takes none, nor does another search or hash. */
function useFocus(main: RefObject<HTMLElement | null>): void {
  const { pathname } = useLocation();
  const shown = useRef(pathname);
  const before = useRef<Element>(null);
  // The undo of a layout effect runs when the old screen is gone and no field of the new one has taken the focus yet.
  useLayoutEffect(
    () => () => {
      before.current = document.activeElement;
    },
    [pathname],
  );
  useEffect(() => {
    if (main.current === null || shown.current === pathname) return undefined;
    shown.current = pathname;
    return focusOnArrival(main.current, before.current);
  }, [main, pathname]);
}
