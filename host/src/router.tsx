import { createBrowserRouter, Navigate, useRouteError, type RouteObject } from "react-router-dom";

import { App } from "./App.tsx";
import { HostRoute } from "./HostRoute.tsx";
import type { Host } from "./context/host-context.ts";
import { RemoteRoute } from "./area/RemoteRoute.tsx";

/**
 * Creates the page's router. Call it after sign-in has removed the provider's response from the
 * address.
 */
export function createPortalRouter({ routes }: Pick<Host, "routes">): ReturnType<typeof createBrowserRouter> {
  return createBrowserRouter(createRouteObjects(routes));
}

/**
 * Creates one router route inside the frame for each portal route, with the portal route as
 * `handle` (use-current-route.ts). Below a path that ends in `*` a remote renders its own
 * descendant `<Routes>`.
 */
export function createRouteObjects(routes: Host["routes"]): RouteObject[] {
  return [
    {
      element: <App />,
      errorElement: <Rethrow />,
      children: [
        { index: true, element: redirectHome },
        ...routes.map((route): RouteObject => ({
          path: route.path,
          handle: route,
          element: "remote" in route ? <RemoteRoute route={route} /> : <HostRoute screen={route.screen} />,
        })),
        { path: "*", element: redirectHome },
      ],
    },
  ];
}

const redirectHome = <Navigate to="/home" replace />;

/**
 * Throws a route's error again, because the page's error boundary (HostRoot.tsx) handles it, not
 * the router.
 */
function Rethrow(): never {
  throw useRouteError();
}
