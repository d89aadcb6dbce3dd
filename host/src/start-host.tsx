import type { ReactNode } from "react";
import { RouterProvider } from "react-router-dom";

import { createHost, type HostSettings } from "./create-host.ts";
import { HostRoot } from "./HostRoot.tsx";
import { mayUseVault, preloadPlace } from "./remotes/preload.ts";
import { createPortalRouter } from "./router.tsx";
import { userOf } from "./session/machine.ts";

/** Puts the parts together, reads who is signed in, and gives the page. */
export async function startHost(settings: HostSettings): Promise<ReactNode> {
  const host = await createHost(settings);
  document.title = settings.verified.deployment.branding.product_name;
  host.vendor.refresh();
  host.watch.start(); // as long as the page lives
  preloadPlace(host.places, host.session.pathAhead(), host.loader);
  await host.session.start();
  // The vault is made while the screen that will ask for it is drawn: its worker takes as long to start.
  if (userOf(host.session.getState()) !== null && mayUseVault(host.places, window.location.pathname, settings.verified.remotes)) {
    host.vault.get().catch(() => undefined); // the screen asks anew, and says what happened
  }
  return (
    <HostRoot host={host}>
      <RouterProvider router={createPortalRouter(host)} />
    </HostRoot>
  );
}
