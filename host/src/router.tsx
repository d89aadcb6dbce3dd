import { createBrowserRouter, Navigate, useRouteError, type RouteObject } from "react-router-dom";

import { App } from "./App.tsx";
import { HostRoute } from "./HostRoute.tsx";
import type { Host } from "./context/host-context.ts";
import { RemoteRoute } from "./area/RemoteRoute.tsx";

/** Makes the router of the page. Called after sign-in has removed its answer from the address. */
export function createPortalRouter({ routes }: Pick<Host, "routes">): ReturnType<typeof createBrowserRouter> {
  return createBrowserRouter(createRouteObjects(routes));
}

/**
 * One router route for each portal route, inside the frame. It carries the portal route as `handle`
 * (use-current-route.ts). What a remote has below a path that ends in `*` are descendant `<Routes>`
 * of its own.
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
 * Throws what a route threw once more: the router catches it, but the error boundary of the page
 * (HostRoot.tsx) handles it.
 */
function Rethrow(): never {
  throw useRouteError();
}
