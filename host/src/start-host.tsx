import type { ReactNode } from "react";
import { RouterProvider } from "react-router-dom";

import { createHost, type HostSettings } from "./create-host.ts";
import { Overlay } from "./frame/Overlay.tsx";
import { HostRoot } from "./HostRoot.tsx";
import { mayUseVault, prefetchRoute } from "./context/prefetch.ts";
import { createPortalRouter } from "./router.tsx";
import { isLinkPath } from "./session/fragment.ts";
import { getUser, type SessionState } from "./session/session-state.ts";

/**
 * Creates the host, restores the session, and renders the page. Meanwhile the page says that it
 * signs in. The router is created last, because it reads the address, which sign-in changes.
 *
 * @returns a function that mounts the page again at the current address, for a link that was taken
 *   without a reload
 */
export async function startHost(settings: HostSettings, render: (content: ReactNode) => void): Promise<() => void> {
  const host = await createHost(settings);
  document.title = settings.verifiedDeployment.deployment.branding.product_name;
  host.vendor.refresh();
  host.deploymentWatch.start(); // runs until the page closes
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
  // Starting the vault's worker takes about as long as drawing the screen that needs it, so both
  // run at the same time.
  const { pathname } = window.location;
  if (isLinkPath(pathname)) {
    // only loads the code: the shown page takes the link key
    host.loader.loadWithoutTexts("recovery").catch(() => undefined);
  } else if (
    getUser(host.session.getState()) !== null &&
    mayUseVault(host.routes, pathname, settings.verifiedDeployment.remotes)
  ) {
    host.vaultSource.get().catch(() => undefined); // the screen asks again and shows the error
  }
  let shownRouter: ReturnType<typeof createPortalRouter> | null = null;
  let mountCount = 0;
  const showPage = (): void => {
    shownRouter?.dispose();
    const router = createPortalRouter(host);
    shownRouter = router;
    mountCount += 1;
    const recordScreen = ({ location }: Pick<typeof router.state, "location">): void => {
      host.screenHistory.record(location.pathname, performance.now());
    };
    recordScreen(router.state);
    router.subscribe(recordScreen);
    render(
      <HostRoot host={host}>
        <RouterProvider key={mountCount} router={router} />
      </HostRoot>,
    );
  };
  showPage();
  return () => {
    host.visitorSource.close(); // the previous visitor has the previous link's key
    showPage();
  };
}

function isSigningIn(state: SessionState): boolean {
  return state.status === "loading" && state.navigator === "sign_in";
}
