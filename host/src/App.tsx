import { blocksLeaving, PortalContext, useLeaveQuestion } from "@relicario/shared/contract";
import { useEffect, useSyncExternalStore } from "react";
import { Navigate, Outlet, useBlocker, useLocation } from "react-router-dom";

import { admit, landingVisitedKey } from "./access.ts";
import { Frame } from "./frame/Frame.tsx";
import { Overlay } from "./frame/Overlay.tsx";
import { SignedOut, SignInFailed } from "./frame/ProblemScreens.tsx";
import { useHost } from "./host-context.ts";
import type { Place } from "./places.ts";
import { usePortalObject } from "./portal/use-portal-object.ts";
import { AreaLoading } from "./remotes/AreaLoading.tsx";
import { RenewVault } from "./remotes/RemotePlace.tsx";
import { claimsOf } from "./session-claims.ts";
import { userOf, type SessionState } from "./session/machine.ts";
import { WhatIsDown } from "./status/WhatIsDown.tsx";
import { TourHost } from "./tours/TourHost.tsx";
import { usePlace } from "./use-place.ts";

/** What every route stands in: whether this visitor may see the place, and the frame around its screen. */
export function App() {
  const { flags, session } = useHost();
  const { pathname, search, hash } = useLocation();
  const state = useSyncExternalStore(session.subscribe, session.getState);
  const place = usePlace();
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
  if (place === null) return <Outlet />;
  if ("screen" in place && place.screen === "flags" && !flags.switchable) return <Navigate to="/home" replace />;

  const signedIn = userOf(state) !== null;
  switch (admit(place, { signedIn, landingVisited: localStorage.getItem(landingVisitedKey) === "true" })) {
    case "landing":
      return <Navigate to="/secret-landing" replace />;
    case "sign_in":
      if (session.endedElsewhere()) return <SignedOut onSignIn={() => void session.signIn("/home")} />;
      return <GoToSignIn returnTo={returnAddress(pathname, search, hash)} />;
    case "show":
      return <Inside place={place} state={state} />;
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

/** The portal and the frame, which stay while somebody goes from place to place. */
function Inside({ place, state }: { readonly place: Place; readonly state: SessionState }) {
  const { session, watch } = useHost();
  const user = userOf(state);
  const exchange = useSyncExternalStore(session.exchange.subscribe, session.exchange.getState);
  const claims = claimsOf(exchange);
  const { portal, vaultFailed, renewVault } = usePortalObject(claims, user);
  const { key } = useLocation();

  // Whoever goes somewhere asks again for a vault that did not load, and whether the release set is still in force.
  useEffect(() => {
    if (vaultFailed()) renewVault();
    if (key !== firstKey) void watch.check();
  }, [key, vaultFailed, renewVault, watch]);

  const waiting = "remote" in place && user !== null && claims === null && place.access !== "public";
  return (
    <PortalContext value={portal}>
      <RenewVault value={renewVault}>
        <Frame userName={portal.user.userName} shell={place.shell} signedIn={user !== null}>
          {waiting ? exchange.status === "exchanging" && <AreaLoading /> : <Outlet />}
        </Frame>
        <TourHost signedIn={claims !== null} shell={place.shell} remote={"remote" in place ? place.remote : null} />
      </RenewVault>
    </PortalContext>
  );
}

/** The router's name of the entry that a page starts with: nobody went there yet. */
const firstKey = "default";

function returnAddress(pathname: string, search: string, hash: string): string {
  return `${pathname}${search}${hash}`;
}
