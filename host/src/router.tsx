import { createBrowserRouter, Navigate, useRouteError, type RouteObject } from "react-router-dom";

import { App } from "./App.tsx";
import { HostPlace } from "./HostPlace.tsx";
import type { Host } from "./host-context.ts";
import { RemotePlace } from "./remotes/RemotePlace.tsx";

/** The router of the page, made once: what it knows is known before it starts. Not before sign-in has cleaned the address. */
export function createPortalRouter({ places }: Pick<Host, "places">): ReturnType<typeof createBrowserRouter> {
  return createBrowserRouter(portalRoutes(places));
}

/**
 * One route for each place, inside the frame. A route carries its place as `handle` (use-place.ts) and draws its screen; what
 * a remote has below a place that ends in `*` are descendant `<Routes>` of its own.
 */
export function portalRoutes(places: Host["places"]): RouteObject[] {
  return [
    {
      element: <App />,
      errorElement: <ForTheBoundary />,
      children: [
        { index: true, element: toHome },
        ...places.map(
          (place): RouteObject => ({
            path: place.pattern,
            handle: place,
            element: "remote" in place ? <RemotePlace place={place} /> : <HostPlace screen={place.screen} />,
          }),
        ),
        { path: "*", element: toHome },
      ],
    },
  ];
}

const toHome = <Navigate to="/home" replace />;

/** The router catches what its routes throw; here it goes on to the boundary of the page, in HostRoot.tsx. */
function ForTheBoundary(): never {
  throw useRouteError();
}
