import type { ReactNode } from "react";
import { RouterProvider } from "react-router-dom";

import { createHost, type HostSettings } from "./create-host.ts";
import { HostRoot } from "./HostRoot.tsx";
import { mayUseVault, prefetchRoute } from "./prefetch.ts";
import { createPortalRouter } from "./router.tsx";
import { userOf } from "./session/machine.ts";

/** Creates the host, restores the session, and gives the page to render. */
export async function startHost(settings: HostSettings): Promise<ReactNode> {
  const host = await createHost(settings);
  document.title = settings.verified.deployment.branding.product_name;
  host.vendor.refresh();
  host.watch.start(); // until the page is closed
  prefetchRoute(host.routes, host.session.pathAhead(), host.loader);
  await host.session.start();
  // Starting the vault's worker takes about as long as drawing the screen that will need it: both at once.
  if (userOf(host.session.getState()) !== null && mayUseVault(host.routes, window.location.pathname, settings.verified.remotes)) {
    host.vault.get().catch(() => undefined); // the screen asks again and shows the error
  }
  return (
    <HostRoot host={host}>
      <RouterProvider router={createPortalRouter(host)} />
    </HostRoot>
  );
}
