import { PortalContext, type Portal, type RemoteName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import {
  createElement,
  Suspense,
  use,
  useCallback,
  useLayoutEffect,
  useMemo,
  useState,
  type ComponentType,
} from "react";
import { useLocation } from "react-router-dom";
import { styled } from "styled-components";

import { AreaLoading } from "./AreaLoading.tsx";
import type { PageGuard } from "../remotes/page-guard.ts";
import type { LazyRoute, ParsedModule } from "../remotes/remote-module.ts";
import { RemoteBoundary } from "./RemoteBoundary.tsx";
import type { RemoteLoader } from "../remotes/loader.ts";

export interface RemoteAreaProps {
  readonly name: RemoteName;
  /** Path pattern of the current route. */
  readonly path: string;
  readonly loader: Pick<RemoteLoader, "load" | "loadPage">;
  readonly pageGuard: PageGuard;
  readonly portal: Portal;
  /** Limits the portal object to the capabilities and paths of the remote. */
  readonly scope: (portal: Portal, name: RemoteName) => Portal;
  readonly onCrash: (name: RemoteName, error: PortalError) => void;
  /** Called on retry, in addition to loading the remote again. */
  readonly onRetry: () => void;
}

export function RemoteArea({ name, path, loader, pageGuard, portal, scope, onCrash, onRetry }: RemoteAreaProps) {
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
        {/* The scope of the remote's stylesheets (shared/src/webpack/ScopePlugin.ts). */}
        <AreaScope key={`${name}-${String(attempt)}`} data-remote={name}>
          <StartPageGuard pageGuard={pageGuard} />
          <Area name={name} path={path} loader={loader} />
          <EndPageGuard pageGuard={pageGuard} />
        </AreaScope>
      </PortalContext.Provider>
    </RemoteBoundary>
  );
}

interface PageGuardProps {
  readonly pageGuard: PageGuard;
}

/** Starts before the effects of the area, its next sibling. */
function StartPageGuard({ pageGuard }: PageGuardProps) {
  useLayoutEffect(() => {
    pageGuard.start();
  }, [pageGuard]);
  return null;
}

/** Ends after the cleanups of the area, its last sibling, and before the next area is mounted. */
function EndPageGuard({ pageGuard }: PageGuardProps) {
  useLayoutEffect(() => pageGuard.restore, [pageGuard]);
  return null;
}

/** Changes nothing of the layout. */
const AreaScope = styled.div`
  display: contents;
`;

type AreaProps = Pick<RemoteAreaProps, "name" | "path" | "loader">;

function Area({ name, path, loader }: AreaProps) {
  // Created outside the component that suspends: React renders that component again to show a
  // failure, and it must get the same rejected promise.
  const [modulePromise] = useState(() => loader.load(name));
  const [initialPage, setInitialPage] = useState<InitialPage | null>(() =>
    loadInitialPage(modulePromise, { name, path, loader }),
  );
  // the person navigated to another screen
  if (initialPage !== null && initialPage.path !== path) setInitialPage(null);
  return (
    <Suspense fallback={<AreaLoading />}>
      <RemoteScreen
        name={name}
        path={path}
        loader={loader}
        modulePromise={modulePromise}
        initialPagePromise={initialPage?.path === path ? initialPage.promise : null}
      />
    </Suspense>
  );
}

interface InitialPage {
  readonly path: string;
  readonly promise: Promise<unknown>;
}

/**
 * Loads the first page together with the remote, so that both share one placeholder: React shows
 * every further placeholder for at least 300 ms.
 */
function loadInitialPage(modulePromise: Promise<ParsedModule>, { name, path, loader }: AreaProps): InitialPage {
  const promise = modulePromise.then(({ routes }) => {
    const route = routes.find((candidate) => candidate.path === path);
    return route === undefined ? null : loader.loadPage(name, route);
  });
  promise.catch(() => undefined); // RemoteScreen handles a rejection
  return { path, promise };
}

interface RemoteScreenProps extends AreaProps {
  readonly modulePromise: Promise<ParsedModule>;
  /** Keeps the placeholder until the promise settles. Null when there is no such promise. */
  readonly initialPagePromise: Promise<unknown> | null;
}

/** Finds the route by its pattern, because the router has already matched the address. */
function RemoteScreen({ name, path, loader, modulePromise, initialPagePromise }: RemoteScreenProps) {
  const { routes } = use(modulePromise);
  if (initialPagePromise !== null) use(initialPagePromise);
  const route = routes.find((candidate) => candidate.path === path);
  // cannot happen: parseModule refuses a remote that lacks a route of its manifest
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
  const [pagePromise] = useState(() => loader.loadPage(name, route));
  return (
    <Suspense fallback={<AreaLoading />}>
      <LoadedPage pagePromise={pagePromise} />
    </Suspense>
  );
}

function LoadedPage({ pagePromise }: { readonly pagePromise: Promise<ComponentType> }) {
  return createElement(use(pagePromise));
}

/**
 * React key of a page. Routes with the same code share it, so that the page stays mounted between
 * them.
 */
function getPageKey({ load }: LazyRoute, routes: readonly LazyRoute[]): number {
  return routes.findIndex((route) => route.load === load);
}
