import { shouldBlockLeaving, PortalContext, useLeaveConfirmation } from "@relicario/shared/contract";
import { useEffect, useSyncExternalStore } from "react";
import { Navigate, Outlet, useBlocker, useLocation } from "react-router-dom";

import { Frame } from "./frame/Frame.tsx";
import { Overlay } from "./frame/Overlay.tsx";
import { SignedOut, SignInFailed } from "./frame/ProblemScreens.tsx";
import { useHost } from "./context/host-context.ts";
import { guardRoute, landingVisitedKey, type PortalRoute } from "./routes/routes.ts";
import { usePortalObject } from "./portal/use-portal-object.ts";
import { AreaLoading } from "./area/AreaLoading.tsx";
import { ReloadVaultContext } from "./area/RemoteRoute.tsx";
import { getClaims } from "./session/token-exchange.ts";
import { getUser, type SessionState } from "./session/machine.ts";
import { DownServices } from "./status/DownServices.tsx";
import { TourHost } from "./tours/TourHost.tsx";
import { useCurrentRoute } from "./context/use-current-route.ts";

/**
 * The layout of every route: decides whether this visitor may see its screen, and draws the frame
 * around it.
 */
export function App() {
  const { flags, session } = useHost();
  const { pathname, search, hash } = useLocation();
  const state = useSyncExternalStore(session.subscribe, session.getState);
  const route = useCurrentRoute();
  const features = useSyncExternalStore(flags.subscribe, flags.getState);
  useLeaveConfirmation(useBlocker(shouldBlockLeaving));

  if (state.status === "loading" && state.navigator === "sign_out") return <Overlay kind="signing_out" />;
  if (state.status === "loading" && state.user === null) return <Overlay kind="signing_in" />;
  if (state.status === "error" && state.user === null) {
    return (
      <SignInFailed code={state.code} onRetry={() => void session.signIn(buildReturnPath(pathname, search, hash))}>
        <DownServices />
      </SignInFailed>
    );
  }
  if (route === null) return <Outlet />;
  if ("screen" in route && route.screen === "flags" && !flags.switchable) return <Navigate to="/home" replace />;

  if (route.feature !== undefined && features[route.feature] === false) return <Navigate to="/home" replace />;

  const signedIn = getUser(state) !== null;
  switch (guardRoute(route, { signedIn, landingVisited: localStorage.getItem(landingVisitedKey) === "true" })) {
    case "landing":
      return <Navigate to={`/secret-landing?${new URLSearchParams({ then: pathname }).toString()}`} replace />;
    case "sign_in":
      if (session.hasEndedElsewhere()) return <SignedOut onSignIn={() => void session.signIn("/home")} />;
      return <RedirectToSignIn returnTo={buildReturnPath(pathname, search, hash)} />;
    case "show":
      return <PortalFrame route={route} state={state} />;
  }
}

/** Sends an unauthenticated visitor to the provider, with the current address to come back to. */
function RedirectToSignIn({ returnTo }: { readonly returnTo: string }) {
  const { session } = useHost();
  useEffect(() => {
    void session.signIn(returnTo);
  }, [session, returnTo]);
  return <Overlay kind="signing_in" />;
}

/** Portal object and frame, which stay mounted across navigations. */
function PortalFrame({ route, state }: { readonly route: PortalRoute; readonly state: SessionState }) {
  const { session, watch } = useHost();
  const user = getUser(state);
  const exchange = useSyncExternalStore(session.exchange.subscribe, session.exchange.getState);
  const claims = getClaims(exchange);
  const { portal, hasVaultFailed, reloadVault } = usePortalObject(claims, user);
  const { key } = useLocation();

  // Every navigation loads a vault that failed to load once more, and checks whether the releases
  // of this page are still in force.
  useEffect(() => {
    if (hasVaultFailed()) reloadVault();
    if (key !== initialLocationKey) void watch.check();
  }, [key, hasVaultFailed, reloadVault, watch]);

  const isWaitingForClaims = "remote" in route && user !== null && claims === null && route.access !== "public";
  return (
    <PortalContext value={portal}>
      <ReloadVaultContext value={reloadVault}>
        <Frame userName={portal.user.userName} shell={route.shell} signedIn={user !== null}>
          {isWaitingForClaims ? exchange.status === "exchanging" && <AreaLoading /> : <Outlet />}
        </Frame>
        <TourHost signedIn={claims !== null} shell={route.shell} remote={"remote" in route ? route.remote : null} />
      </ReloadVaultContext>
    </PortalContext>
  );
}

/** The router's key of the history entry that a page starts with: no navigation has happened. */
const initialLocationKey = "default";

function buildReturnPath(pathname: string, search: string, hash: string): string {
  return `${pathname}${search}${hash}`;
}
