import { pageStorage, shouldBlockLeaving, PortalContext, useLeaveConfirmation } from "@relicario/shared/contract";
import { Page } from "@relicario/shared/ui";
import { useEffect, useSyncExternalStore } from "react";
import { Navigate, Outlet, useBlocker, useLocation } from "react-router-dom";

import { Frame } from "./frame/Frame.tsx";
import { Overlay } from "./frame/Overlay.tsx";
import { SignedOut, SignInFailed } from "./frame/ProblemScreens.tsx";
import { useHost } from "./context/host-context.ts";
import { guardRoute, landingVisitedKey, type PortalRoute } from "./routes/routes.ts";
import { ServiceDialogHost } from "./popups/dialog-hosts.tsx";
import { usePortalObject } from "./portal/use-portal-object.ts";
import { AreaLoading } from "./area/AreaLoading.tsx";
import { useAreaTitle } from "./area/area-title.ts";
import { ReloadVaultContext } from "./area/RemoteRoute.tsx";
import { getClaims } from "./session/token-exchange.ts";
import { getUser, type SessionState } from "./session/session-state.ts";
import { DownServices } from "./status/DownServices.tsx";
import { TourHost } from "./tours/TourHost.tsx";
import { useCurrentRoute } from "./context/use-current-route.ts";

/** Layout of every route: checks access, and draws the frame around the screen. */
export function App() {
  const { flags, session } = useHost();
  const { pathname, search, hash } = useLocation();
  const sessionState = useSyncExternalStore(session.subscribe, session.getState);
  const route = useCurrentRoute();
  const features = useSyncExternalStore(flags.subscribe, flags.getState);
  useLeaveConfirmation(useBlocker(shouldBlockLeaving));

  if (sessionState.status === "loading" && sessionState.navigator === "sign_out") return <Overlay kind="signing_out" />;
  if (sessionState.status === "loading" && sessionState.user === null) return <Overlay kind="signing_in" />;
  if (sessionState.status === "error" && sessionState.user === null) {
    return (
      <SignInFailed
        code={sessionState.code}
        onRetry={() => void session.signIn(buildReturnPath(pathname, search, hash))}
      >
        <DownServices />
      </SignInFailed>
    );
  }
  if (route === null) return <Outlet />;
  if ("screen" in route && route.screen === "flags" && !flags.switchable) return <Navigate to="/home" replace />;

  if (route.feature !== undefined && features[route.feature] === false) return <Navigate to="/home" replace />;

  const signedIn = getUser(sessionState) !== null;
  switch (guardRoute(route, { signedIn, landingVisited: pageStorage.local.getItem(landingVisitedKey) === "true" })) {
    case "landing":
      return <Navigate to={`/secret-landing?${new URLSearchParams({ then: pathname }).toString()}`} replace />;
    case "sign_in":
      if (session.hasEndedElsewhere()) return <SignedOut onSignIn={() => void session.signIn("/home")} />;
      return <RedirectToSignIn returnTo={buildReturnPath(pathname, search, hash)} />;
    case "show":
      return <PortalFrame route={route} sessionState={sessionState} />;
  }
}

function RedirectToSignIn({ returnTo }: { readonly returnTo: string }) {
  const { session } = useHost();
  useEffect(() => {
    void session.signIn(returnTo);
  }, [session, returnTo]);
  return <Overlay kind="signing_in" />;
}

/** Provides the portal object and the frame. Stays mounted across navigations. */
function PortalFrame({ route, sessionState }: { readonly route: PortalRoute; readonly sessionState: SessionState }) {
  const { session, deploymentWatch, serviceDialogs } = useHost();
  const user = getUser(sessionState);
  const exchangeState = useSyncExternalStore(session.exchange.subscribe, session.exchange.getState);
  const claims = getClaims(exchangeState);
  const { portal, hasVaultFailed, reloadVault } = usePortalObject(claims, user);
  const { key } = useLocation();

  // Every navigation retries a vault that failed to load, and checks whether this page's releases
  // are still in force.
  useEffect(() => {
    if (hasVaultFailed()) reloadVault();
    if (key !== initialLocationKey) void deploymentWatch.check();
  }, [key, hasVaultFailed, reloadVault, deploymentWatch]);

  const getAreaTitle = useAreaTitle();
  const isWaitingForClaims = "remote" in route && user !== null && claims === null && route.access !== "public";
  return (
    <PortalContext value={portal}>
      <ReloadVaultContext value={reloadVault}>
        <Frame userName={portal.user.userName} shell={route.shell} signedIn={user !== null}>
          {!isWaitingForClaims ? (
            <Outlet />
          ) : exchangeState.status === "exchanging" ? (
            <AreaLoading />
          ) : (
            <Page title={getAreaTitle(route.remote)} /> // a notice of the frame gives the reason
          )}
        </Frame>
        <ServiceDialogHost serviceDialogs={serviceDialogs} />
        <TourHost hasClaims={claims !== null} shell={route.shell} remote={"remote" in route ? route.remote : null} />
      </ReloadVaultContext>
    </PortalContext>
  );
}

/** React Router's key of the history entry that a page loads with, before any navigation. */
const initialLocationKey = "default";

function buildReturnPath(pathname: string, search: string, hash: string): string {
  return `${pathname}${search}${hash}`;
}
