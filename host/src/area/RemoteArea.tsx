import { PortalContext, type Portal, type RemoteName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { createElement, Suspense, use, useCallback, useMemo, useState, type ComponentType } from "react";
import { useLocation } from "react-router-dom";

import { AreaLoading } from "./AreaLoading.tsx";
import type { LazyRoute, LoadedModule } from "../remotes/remote-module.ts";
import { RemoteBoundary } from "./RemoteBoundary.tsx";
import type { RemoteLoader } from "../remotes/loader.ts";

export interface RemoteAreaProps {
  readonly name: RemoteName;
  /** Path pattern of the route whose screen is shown. */
  readonly path: string;
  readonly loader: Pick<RemoteLoader, "load" | "loadPage">;
  readonly portal: Portal;
  /** Limits the portal object to what the remote may use. */
  readonly scope: (portal: Portal, name: RemoteName) => Portal;
  readonly onCrash: (name: RemoteName, error: PortalError) => void;
  /** Called when the person retries, beside loading the remote again. */
  readonly onRetry: () => void;
}

/** A screen of one remote, inside its boundary. */
export function RemoteArea({ name, path, loader, portal, scope, onCrash, onRetry }: RemoteAreaProps) {
  const { pathname } = useLocation();
  const [attempt, setAttempt] = useState(0);
  const retry = useCallback(() => {
    setAttempt((previous) => previous + 1);
    onRetry();
  }, [onRetry]);
  const scopedPortal = useMemo(() => scope(portal, name), [scope, portal, name]);

  return (
    <RemoteBoundary name={name} pathname={pathname} onRetry={retry} onCrash={onCrash}>
      <PortalContext.Provider value={scopedPortal}>
        <Area key={`${name}-${String(attempt)}`} name={name} path={path} loader={loader} />
      </PortalContext.Provider>
    </RemoteBoundary>
  );
}

type AreaProps = Pick<RemoteAreaProps, "name" | "path" | "loader">;

function Area({ name, path, loader }: AreaProps) {
  // Outside the component that suspends: React renders again to show a failure and must get the
  // same failed promise.
  const [module] = useState(() => loader.load(name));
  const [initialPage, setInitialPage] = useState<InitialPage | null>(() =>
    loadInitialPage(module, { name, path, loader }),
  );
  // somebody went on: nothing waits for it any more
  if (initialPage !== null && initialPage.path !== path) setInitialPage(null);
  return (
    <Suspense fallback={<AreaLoading />}>
      <RemoteScreen
        name={name}
        path={path}
        loader={loader}
        module={module}
        initialPage={initialPage?.path === path ? initialPage.ready : null}
      />
    </Suspense>
  );
}

interface InitialPage {
  readonly path: string;
  readonly ready: Promise<unknown>;
}

/**
 * The page that an area begins with comes in the place of the area's own placeholder: React keeps
 * each further one for at least 300 ms.
 */
function loadInitialPage(module: Promise<LoadedModule>, { name, path, loader }: AreaProps): InitialPage {
  const ready = module.then(({ routes }) => {
    const route = routes.find((candidate) => candidate.path === path);
    return route === undefined ? null : loader.loadPage(name, route);
  });
  ready.catch(() => undefined); // shown where it is used
  return { path, ready };
}

interface RemoteScreenProps extends AreaProps {
  readonly module: Promise<LoadedModule>;
  /** Until when there is nothing to draw but the placeholder. */
  readonly initialPage: Promise<unknown> | null;
}

/** The router has matched the address already: the route is found by its pattern. */
function RemoteScreen({ name, path, loader, module, initialPage }: RemoteScreenProps) {
  const { routes } = use(module);
  if (initialPage !== null) use(initialPage);
  const route = routes.find((candidate) => candidate.path === path);
  // parseModule lets none in that lacks a route of its manifest
  if (route === undefined) throw new PortalError("remote_refused");
  return <Screen key={getPageKey(route, routes)} name={name} route={route} loader={loader} />;
}

function Screen({
  name,
  route,
  loader,
}: {
  readonly name: RemoteName;
  readonly route: LazyRoute;
  readonly loader: Pick<RemoteLoader, "loadPage">;
}) {
  const [page] = useState(() => loader.loadPage(name, route));
  return (
    <Suspense fallback={<AreaLoading />}>
      <LoadedPage page={page} />
    </Suspense>
  );
}

function LoadedPage({ page }: { readonly page: Promise<ComponentType> }) {
  return createElement(use(page));
}

/**
 * A key for `route` that routes with the same code share, so that their page stays mounted from one
 * to the other.
 */
function getPageKey({ load }: LazyRoute, routes: readonly LazyRoute[]): number {
  return routes.findIndex((route) => route.load === load);
}
