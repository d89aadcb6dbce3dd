import { pageStorage, usePortal, type Portal, type RemoteName } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { createContext, useCallback, useContext, useSyncExternalStore } from "react";

import { useHost } from "../context/host-context.ts";
import type { PortalRoute } from "../routes/routes.ts";
import { loadLeftOut } from "../safe-start/left-out.ts";
import { RemoteArea } from "./RemoteArea.tsx";
import { RemoteAreaProblem } from "./RemoteBoundary.tsx";
import { createScopedPortal } from "../remotes/scoped-portal.ts";

/** Retries a vault that failed to load. Called when a person retries an area. */
export const ReloadVaultContext = createContext<() => void>(() => undefined);

export function RemoteRoute({ route }: { readonly route: Extract<PortalRoute, { remote: unknown }> }) {
  const { loader, pageGuard, verifiedDeployment, deploymentWatch, report } = useHost();
  const portal = usePortal();
  const reloadVault = useContext(ReloadVaultContext);
  const { disabledRemotes } = useSyncExternalStore(deploymentWatch.subscribe, deploymentWatch.getState);
  const scope = useCallback(
    (fullPortal: Portal, name: RemoteName) => {
      const remote = verifiedDeployment.remotes.get(name);
      return createScopedPortal(
        fullPortal,
        remote?.status === "verified" ? remote.record.manifest : { name, capabilities: [], api_paths: [] },
      );
    },
    [verifiedDeployment],
  );
  const handleCrash = useCallback(
    (name: RemoteName, error: PortalError) => {
      // The loader has already reported a failure to load.
      if (isPortalError(error, "remote_crashed")) report(name, "render", error);
    },
    [report],
  );
  if (disabledRemotes.has(route.remote)) {
    return <RemoteAreaProblem name={route.remote} error={disabledError} onRetry={() => window.location.reload()} />;
  }
  const remote = verifiedDeployment.remotes.get(route.remote);
  if (remote?.status === "refused" && remote.code === "remote_left_out") {
    return (
      <RemoteAreaProblem
        name={route.remote}
        error={leftOutError}
        onRetry={() => {
          loadLeftOut(pageStorage.session, window.location);
        }}
      />
    );
  }
  return (
    <RemoteArea
      name={route.remote}
      path={route.path}
      loader={loader}
      pageGuard={pageGuard}
      portal={portal}
      scope={scope}
      onCrash={handleCrash}
      onRetry={reloadVault}
    />
  );
}

const disabledError = new PortalError("remote_disabled");
const leftOutError = new PortalError("remote_left_out");
