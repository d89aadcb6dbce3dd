import { PortalContext, type Portal, type RemoteName } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { createElement, Suspense, use, useCallback, useMemo, useState, type ComponentType, type ReactNode } from "react";
import { Outlet, useLocation, useRoutes } from "react-router-dom";

import { AreaLoading } from "./AreaLoading.tsx";
import type { FaceRoute, RemoteFace } from "./face.ts";
import { RemoteBoundary } from "./RemoteBoundary.tsx";
import type { RemoteLoader } from "./loader.ts";

export interface RemoteAreaProps {
  readonly name: RemoteName;
  readonly loader: RemoteLoader;
  readonly portal: Portal;
  /** Gives the portal as the remote may see it. */
  readonly scope: (portal: Portal, name: RemoteName) => Portal;
  readonly onCrash: (name: RemoteName, error: PortalError) => void;
  /** Also tried again, beside the remote itself. */
  readonly onRetry: () => void;
  /** Shown at a path that the remote does not have. */
  readonly missing: ReactNode;
}

/** The screens of one remote, inside its boundary. */
export function RemoteArea({ name, loader, portal, scope, onCrash, onRetry, missing }: RemoteAreaProps) {
  const { pathname } = useLocation();
  const [attempt, setAttempt] = useState(0);
  const retry = useCallback(() => {
    setAttempt((before) => before + 1);
    onRetry();
  }, [onRetry]);
  // Kept here, outside what suspends: a failed promise must be the same one when React draws again to show the failure.
  const loading = useMemo(() => ({ attempt, module: loader.load(name) }), [loader, name, attempt]);
  const scoped = useMemo(() => scope(portal, name), [scope, portal, name]);

  return (
    <RemoteBoundary name={name} place={pathname} onRetry={retry} onCrash={onCrash}>
      <Suspense key={`${name}-${String(loading.attempt)}`} fallback={<AreaLoading />}>
        <PortalContext.Provider value={scoped}>
          <Screens name={name} loader={loader} module={loading.module} missing={missing} />
        </PortalContext.Provider>
      </Suspense>
    </RemoteBoundary>
  );
}

interface ScreensProps {
  readonly name: RemoteName;
  readonly loader: RemoteLoader;
  readonly module: Promise<RemoteFace>;
  readonly missing: ReactNode;
}

function Screens({ name, loader, module, missing }: ScreensProps) {
  const { routes } = use(module);
  const elements = useMemo(
    () => [
      {
        element: <Outlet />,
        children: [...routes.map((route) => ({ path: route.path, element: <Screen key={pageOf(route, routes)} name={name} route={route} loader={loader} /> })), { path: "*", element: missing }],
      },
    ],
    [routes, name, loader, missing],
  );
  return useRoutes(elements);
}

function Screen({ name, route, loader }: { readonly name: RemoteName; readonly route: FaceRoute; readonly loader: RemoteLoader }) {
  const [page] = useState(() => loader.page(name, route));
  return (
    <Suspense fallback={<AreaLoading />}>
      <Loaded page={page} />
    </Suspense>
  );
}

function Loaded({ page }: { readonly page: Promise<ComponentType> }) {
  return createElement(use(page));
}

/** Routes with the same code share one page: it stays on the screen from one to the other. */
function pageOf({ load }: FaceRoute, routes: readonly FaceRoute[]): number {
  return routes.findIndex((route) => route.load === load);
}

