import { usePortal, type Portal, type RemoteName } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { createContext, useCallback, useContext, useSyncExternalStore } from "react";

import { useHost } from "../host-context.ts";
import type { Place } from "../places.ts";
import { RemoteArea } from "./RemoteArea.tsx";
import { AreaFailed } from "./RemoteBoundary.tsx";
import { scopedPortal } from "./scoped-portal.ts";

/** Asks anew for a vault that did not load; whoever tries an area again does so. */
export const RenewVault = createContext<() => void>(() => undefined);

/** The screen of a remote, at its place. */
export function RemotePlace({ place }: { readonly place: Extract<Place, { remote: unknown }> }) {
  const { loader, verified, watch, report } = useHost();
  const portal = usePortal();
  const renewVault = useContext(RenewVault);
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
  return (
    <RemoteArea name={place.remote} path={place.pattern} loader={loader} portal={portal} scope={scope} onCrash={handleCrash} onRetry={renewVault} />
  );
}

const switchedOff = new PortalError("remote_disabled");
