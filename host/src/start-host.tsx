import type { ReactNode } from "react";
import { RouterProvider } from "react-router-dom";

import { createHost, type HostSettings } from "./create-host.ts";
import { Overlay } from "./frame/Overlay.tsx";
import { HostRoot } from "./HostRoot.tsx";
import { mayUseVault, prefetchRoute } from "./context/prefetch.ts";
import { createPortalRouter } from "./router.tsx";
import { isLinkPath } from "./session/fragment.ts";
import { getUser, type SessionState } from "./session/machine.ts";

/**
 * Creates the host, restores the session, and renders the page. The router comes last, because it
 * reads the address, which an answer of the provider in it changes; while such an answer is
 * exchanged the page says so.
 */
export async function startHost(settings: HostSettings, render: (content: ReactNode) => void): Promise<void> {
  const host = await createHost(settings);
  document.title = settings.verified.deployment.branding.product_name;
  host.vendor.refresh();
  host.watch.start(); // until the page is closed
  prefetchRoute(host.routes, host.session.getExpectedPath(), host.loader);
  const sessionStart = host.session.start();
  if (isSigningIn(host.session.getState())) {
    render(
      <HostRoot host={host}>
        <Overlay kind="signing_in" />
      </HostRoot>,
    );
  }
  await sessionStart;
  // Starting the vault's worker takes about as long as drawing the screen that will need it: both
  // at once.
  const { pathname } = window.location;
  if (isLinkPath(pathname)) {
    // nothing is made of it yet: the link key is taken when the page is shown
    host.loader.loadCode("recovery").catch(() => undefined);
  } else if (
    getUser(host.session.getState()) !== null &&
    mayUseVault(host.routes, pathname, settings.verified.remotes)
  ) {
    host.vault.get().catch(() => undefined); // the screen asks again and shows the error
  }
  const router = createPortalRouter(host);
  const recordScreen = ({ location }: Pick<typeof router.state, "location">): void => {
    host.screens.record(location.pathname, performance.now());
  };
  recordScreen(router.state);
  router.subscribe(recordScreen);
  render(
    <HostRoot host={host}>
      <RouterProvider router={router} />
    </HostRoot>,
  );
}

function isSigningIn(state: SessionState): boolean {
  return state.status === "loading" && state.navigator === "sign_in";
}
