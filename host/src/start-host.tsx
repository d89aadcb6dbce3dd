import type { ReactNode } from "react";
import { RouterProvider } from "react-router-dom";

import { createHost, type HostSettings } from "./create-host.ts";
import { HostRoot } from "./HostRoot.tsx";
import { pathToShow, preloadPlace } from "./remotes/preload.ts";
import { createPortalRouter } from "./router.tsx";

/** Puts the parts together, reads who is signed in, and gives the page. */
export async function startHost(settings: HostSettings): Promise<ReactNode> {
  const host = await createHost(settings);
  document.title = settings.verified.deployment.branding.product_name;
  host.vendor.refresh();
  host.watch.start(); // as long as the page lives
  preloadPlace(host.places, pathToShow(new URL(window.location.href), window.sessionStorage), host.loader);
  await host.session.start();
  return (
    <HostRoot host={host}>
      <RouterProvider router={createPortalRouter(host)} />
    </HostRoot>
  );
}
