import { blocksLeaving, PortalContext, useLeaveQuestion } from "@relicario/shared/contract";
import { useEffect, useSyncExternalStore } from "react";
import { Navigate, Outlet, useBlocker, useLocation } from "react-router-dom";

import { Frame } from "./frame/Frame.tsx";
import { Overlay } from "./frame/Overlay.tsx";
import { SignedOut, SignInFailed } from "./frame/ProblemScreens.tsx";
import { useHost } from "./host-context.ts";
import { guardRoute, landingVisitedKey, type PortalRoute } from "./routes.ts";
import { usePortalObject } from "./portal/use-portal-object.ts";
import { AreaLoading } from "./remotes/AreaLoading.tsx";
import { RenewVault } from "./remotes/RemoteRoute.tsx";
import { claimsOf } from "./session/token-exchange.ts";
import { userOf, type SessionState } from "./session/machine.ts";
import { WhatIsDown } from "./status/WhatIsDown.tsx";
import { TourHost } from "./tours/TourHost.tsx";
import { useCurrentRoute } from "./use-current-route.ts";

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
  useLeaveQuestion(useBlocker(blocksLeaving));

  if (state.status === "loading" && state.navigator === "sign_out") return <Overlay kind="signing_out" />;
  if (state.status === "loading" && state.user === null) return <Overlay kind="signing_in" />;
  if (state.status === "error" && state.user === null) {
    return (
      <SignInFailed code={state.code} onRetry={() => void session.signIn(returnAddress(pathname, search, hash))}>
        <WhatIsDown />
      </SignInFailed>
    );
  }
  if (route === null) return <Outlet />;
  if ("screen" in route && route.screen === "flags" && !flags.switchable) return <Navigate to="/home" replace />;

  if (route.feature !== undefined && features[route.feature] === false) return <Navigate to="/home" replace />;

  const signedIn = userOf(state) !== null;
  switch (guardRoute(route, { signedIn, landingVisited: localStorage.getItem(landingVisitedKey) === "true" })) {
    case "landing":
      return <Navigate to={`/secret-landing?${new URLSearchParams({ then: pathname }).toString()}`} replace />;
    case "sign_in":
      if (session.endedElsewhere()) return <SignedOut onSignIn={() => void session.signIn("/home")} />;
      return <GoToSignIn returnTo={returnAddress(pathname, search, hash)} />;
    case "show":
      return <Inside route={route} state={state} />;
  }
}

/** Sends an unauthenticated visitor to the provider, with the current address to come back to. */
function GoToSignIn({ returnTo }: { readonly returnTo: string }) {
  const { session } = useHost();
  useEffect(() => {
    void session.signIn(returnTo);
  }, [session, returnTo]);
  return <Overlay kind="signing_in" />;
}

/** Portal object and frame, which stay mounted across navigations. */
function Inside({ route, state }: { readonly route: PortalRoute; readonly state: SessionState }) {
  const { session, watch } = useHost();
  const user = userOf(state);
  const exchange = useSyncExternalStore(session.exchange.subscribe, session.exchange.getState);
  const claims = claimsOf(exchange);
  const { portal, vaultFailed, renewVault } = usePortalObject(claims, user);
  const { key } = useLocation();

  // Every navigation loads a vault that failed to load once more, and checks whether the releases
  // of this page are still in force.
  useEffect(() => {
    if (vaultFailed()) renewVault();
    if (key !== firstKey) void watch.check();
  }, [key, vaultFailed, renewVault, watch]);

  const waiting = "remote" in route && user !== null && claims === null && route.access !== "public";
  return (
    <PortalContext value={portal}>
      <RenewVault value={renewVault}>
        <Frame userName={portal.user.userName} shell={route.shell} signedIn={user !== null}>
          {waiting ? exchange.status === "exchanging" && <AreaLoading /> : <Outlet />}
        </Frame>
        <TourHost signedIn={claims !== null} shell={route.shell} remote={"remote" in route ? route.remote : null} />
      </RenewVault>
    </PortalContext>
  );
}

/** The router's key of the history entry that a page starts with: no navigation has happened. */
const firstKey = "default";

function returnAddress(pathname: string, search: string, hash: string): string {
  return `${pathname}${search}${hash}`;
}
