import type { ReactNode } from "react";
import { createBrowserRouter, RouterProvider, useRouteError } from "react-router-dom";

import { App } from "./App.tsx";
import { createHost, type HostSettings } from "./create-host.ts";
import { HostRoot } from "./HostRoot.tsx";
import { pathToShow, preloadPlace } from "./remotes/preload.ts";

/** Puts the parts together, reads who is signed in, and gives the page. */
export async function startHost(settings: HostSettings): Promise<ReactNode> {
  const host = await createHost(settings);
  document.title = settings.verified.deployment.branding.product_name;
  host.vendor.refresh();
  host.watch.start(); // as long as the page lives
  preloadPlace(pathToShow(new URL(window.location.href), window.sessionStorage), host.loader);
  await host.session.start();
  const router = createBrowserRouter([{ path: "*", Component: App, ErrorBoundary: Rethrown }]);
  return (
    <HostRoot host={host}>
      <RouterProvider router={router} />
    </HostRoot>
  );
}

/** The router catches what a screen throws; the boundary around it shows it. */
function Rethrown(): never {
  throw useRouteError();
}
