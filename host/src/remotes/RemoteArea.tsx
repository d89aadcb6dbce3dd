import { PortalContext, type Portal, type RemoteName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { createElement, Suspense, use, useCallback, useMemo, useState, type ComponentType } from "react";
import { useLocation } from "react-router-dom";

import { AreaLoading } from "./AreaLoading.tsx";
import type { FaceRoute, RemoteFace } from "./face.ts";
import { RemoteBoundary } from "./RemoteBoundary.tsx";
import type { RemoteLoader } from "./loader.ts";

export interface RemoteAreaProps {
  readonly name: RemoteName;
  /** The pattern of the place; the screen that the remote has for it is shown. */
  readonly path: string;
  readonly loader: RemoteLoader;
  readonly portal: Portal;
  /** Gives the portal as the remote may see it. */
  readonly scope: (portal: Portal, name: RemoteName) => Portal;
  readonly onCrash: (name: RemoteName, error: PortalError) => void;
  /** Also tried again, beside the remote itself. */
  readonly onRetry: () => void;
}

/** A screen of one remote, inside its boundary. */
export function RemoteArea({ name, path, loader, portal, scope, onCrash, onRetry }: RemoteAreaProps) {
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
          <ScreenOf name={name} path={path} loader={loader} module={loading.module} />
        </PortalContext.Provider>
      </Suspense>
    </RemoteBoundary>
  );
}

interface ScreenOfProps extends Pick<RemoteAreaProps, "name" | "path" | "loader"> {
  readonly module: Promise<RemoteFace>;
}

/** The router has found the place by the same pattern: what the remote has there needs no second search by address. */
function ScreenOf({ name, path, loader, module }: ScreenOfProps) {
  const { routes } = use(module);
  const route = routes.find((each) => each.path === path);
  if (route === undefined) throw new PortalError("remote_refused"); // face.ts lets none in that lacks a route of its manifest
  return <Screen key={pageOf(route, routes)} name={name} route={route} loader={loader} />;
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
