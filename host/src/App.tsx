import { PortalContext, type Portal, type RemoteName } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { lazy, useCallback, useEffect, useSyncExternalStore, type ReactNode } from "react";
import { Navigate, useLocation } from "react-router-dom";

import { admit, landingVisitedKey } from "./access.ts";
import { Frame } from "./frame/Frame.tsx";
import { HostArea } from "./frame/HostArea.tsx";
import { Overlay } from "./frame/Overlay.tsx";
import { ComingScreen, SignedOut, SignInFailed } from "./frame/ProblemScreens.tsx";
import { useHost } from "./host-context.ts";
import { placeOf, type HostScreen, type Place } from "./places.ts";
import { usePortalObject } from "./portal/use-portal-object.ts";
import { AreaLoading } from "./remotes/AreaLoading.tsx";
import { RemoteArea } from "./remotes/RemoteArea.tsx";
import { AreaFailed } from "./remotes/RemoteBoundary.tsx";
import { UnavailableArea } from "./remotes/UnavailableArea.tsx";
import { scopedPortal } from "./remotes/scoped-portal.ts";
import { claimsOf } from "./session-claims.ts";
import { userOf, type SessionState } from "./session/machine.ts";
import { TourHost } from "./tours/TourHost.tsx";
import StatusPage from "./status/StatusPage.tsx"; // part of the page from the start: it is for when little else loads
import { WhatIsDown } from "./status/WhatIsDown.tsx";

const HelpPage = lazy(async () => ({ default: (await import("./help/HelpPage.tsx")).HelpPage }));
const DebugFlagsPage = lazy(() => import("./flags/DebugFlagsPage.tsx"));
const ValidateEmailPage = lazy(() => import("./validate-email/ValidateEmailPage.tsx"));

/** Which screen belongs to the address, and whether this visitor may see it. */
export function App() {
  const { flags, places, session } = useHost();
  const { pathname, search, hash } = useLocation();
  const state = useSyncExternalStore(session.subscribe, session.getState);
  const place = placeOf(places, pathname);

  if (state.status === "loading" && state.navigator === "sign_out") return <Overlay kind="signing_out" />;
  if (state.status === "loading" && state.user === null) return <Overlay kind="signing_in" />;
  if (state.status === "error" && state.user === null) {
    return (
      <SignInFailed code={state.code} onRetry={() => void session.signIn(returnAddress(pathname, search, hash))}>
        <WhatIsDown />
      </SignInFailed>
    );
  }
  if ("redirect" in place) return <Navigate to={place.redirect} replace />;
  if ("screen" in place && place.screen === "flags" && !flags.switchable) return <Navigate to="/home" replace />;

  const signedIn = userOf(state) !== null;
  switch (admit(place, { signedIn, landingVisited: localStorage.getItem(landingVisitedKey) === "true" })) {
    case "landing":
      return <Navigate to="/secret-landing" replace />;
    case "sign_in":
      if (session.endedElsewhere()) return <SignedOut onSignIn={() => void session.signIn("/home")} />;
      return <GoToSignIn returnTo={returnAddress(pathname, search, hash)} />;
    case "show":
      return <Screen place={place} state={state} />;
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

function Screen({ place, state }: { readonly place: Place; readonly state: SessionState }) {
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

  const waiting = user !== null && claims === null && place.access !== "public";
  const screen = () => {
    if ("screen" in place) return <HostArea>{hostScreens[place.screen]}</HostArea>;
    if (waiting) return exchange.status === "exchanging" && <AreaLoading />;
    return <Remote place={place} portal={portal} onRetry={renewVault} />;
  };
  return (
    <PortalContext value={portal}>
      <Frame userName={portal.user.userName} shell={place.shell} signedIn={user !== null}>
        {screen()}
      </Frame>
      <TourHost signedIn={claims !== null} shell={place.shell} remote={"remote" in place ? place.remote : null} />
    </PortalContext>
  );
}

interface RemoteProps {
  readonly place: Extract<Place, { remote: unknown }>;
  readonly portal: Portal;
  readonly onRetry: () => void;
}

function Remote({ place, portal, onRetry }: RemoteProps) {
  const { loader, verified, watch, report } = useHost();
  const { disabled } = useSyncExternalStore(watch.subscribe, watch.getState);
  const scope = useCallback(
    (whole: Portal, name: RemoteName) => {
      const remote = verified.remotes.get(name);
      return scopedPortal(whole, remote?.status === "verified" ? remote.record.manifest : { name, capabilities: [], api_paths: [] });
    },
    [verified],
  );
  const handleCrash = useCallback(
    (name: RemoteName, error: PortalError) => {
      // What did not load was reported when it failed.
      if (isPortalError(error, "remote_crashed")) report(name, "render", error);
    },
    [report],
  );
  if (disabled.has(place.remote)) {
    return <AreaFailed name={place.remote} error={switchedOff} onRetry={() => window.location.reload()} />;
  }
  return <RemoteArea name={place.remote} loader={loader} portal={portal} scope={scope} onCrash={handleCrash} onRetry={onRetry} missing={<ComingScreen />} />;
}

const switchedOff = new PortalError("remote_disabled");

/** The router's name of the entry that a page starts with: nobody went there yet. */
const firstKey = "default";

const hostScreens: Readonly<Record<HostScreen, ReactNode>> = {
  help: <HelpPage />,
  status: <StatusPage />,
  "validate-email": <ValidateEmailPage />,
  flags: <DebugFlagsPage />,
  unavailable: <UnavailableArea />,
};

function returnAddress(pathname: string, search: string, hash: string): string {
  return `${pathname}${search}${hash}`;
}
