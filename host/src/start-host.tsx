import type { ReactNode } from "react";

import { App } from "./App.tsx";
import { createHost, type HostSettings } from "./create-host.ts";
import { HostRoot } from "./HostRoot.tsx";
import { PortalRouter } from "./PortalRouter.tsx";
import { pathToShow, preloadPlace } from "./remotes/preload.ts";

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
      <PortalRouter>
        <App />
      </PortalRouter>
    </HostRoot>
  );
}
