import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, configure, render, type RenderResult } from "@testing-library/react";
import { domAnimation, LazyMotion, MotionConfig } from "framer-motion";
import type { i18n as I18n } from "i18next";
import { Suspense, useEffect, useMemo, type ReactNode } from "react";
import { I18nextProvider } from "react-i18next";
import {
  createMemoryRouter,
  Outlet,
  RouterProvider,
  useBlocker,
  useNavigate,
  useRouteError,
  type RouteObject,
} from "react-router-dom";

import {
  shouldBlockLeaving,
  PortalContext,
  useLeaveConfirmation,
  type Language,
  type Portal,
  type RemoteModule,
  type ThemeName,
} from "../contract/index.ts";
import { createI18n } from "../i18n/index.ts";
import { GlobalStyle } from "../ui/index.ts";
import { createFakePortal, type FakePortalSettings, type PortalRecord } from "./fake-portal.ts";
import { createDiskTextsFetcher } from "./texts-from-disk.ts";

configure({ asyncUtilTimeout: 15_000 }); // allows for a busy machine

export interface RenderAppSettings extends FakePortalSettings {
  readonly language?: Language;
  readonly theme?: ThemeName;
  /** Initial path, with query. */
  readonly path?: string;
  /** Path pattern of the screen, such as `/edit-secret/:secretId`; by default any path. */
  readonly routePattern?: string;
  /** Screens of a remote, in addition to `ui`. */
  readonly routes?: RemoteModule["routes"];
  /** Whether animations run; false by default. */
  readonly animated?: boolean;
  /** A route tree that replaces `ui` and the portal around it, for tests of the host. */
  readonly routeTree?: RouteObject[];
  /**
   * Folder of texts, `<language>/<namespace>.json`. They take precedence over the texts of the
   * packages.
   */
  readonly localesFolder?: string | undefined;
}

export interface RenderedApp extends RenderResult {
  readonly portal: Portal;
  readonly record: PortalRecord;
  readonly i18n: I18n;
  readonly queryClient: QueryClient;
  /** What screens threw while they rendered, or in their effects. */
  readonly screenErrors: readonly unknown[];
  /** Current path and query. */
  readonly getLocation: () => string;
  readonly goTo: (path: string) => Promise<void>;
  /** Goes back by this number of history entries; forward if negative. */
  readonly goBack: (steps?: number) => Promise<void>;
}

/**
 * Renders a screen as the host does: with real texts, theme, router, query cache, and a portal
 * whose service and vault are in memory. A missing text fails the test.
 */
export async function renderApp(ui: ReactNode, settings: RenderAppSettings = {}): Promise<RenderedApp> {
  const {
    language = "en",
    theme = "light",
    path = "/",
    routePattern = "*",
    routes = {},
    routeTree,
    animated = false,
    localesFolder,
    ...portalSettings
  } = settings;
  const { portal, record } = createFakePortal({ ...portalSettings, language, theme });
  const missingKeys = new Set<string>();
  const i18n = await createI18n({
    language,
    product: portal.vendor.branding.productName,
    fetchTexts: createDiskTextsFetcher(localesFolder),
    namespaces: ["common", "errors"],
    onMissingKey: (key) => missingKeys.add(key),
  });
  const queryClient = createTestQueryClient();
  document.documentElement.lang = language;
  document.documentElement.dataset["theme"] = theme;

  const pages = await Promise.all(
    Object.entries(routes).map(async ([path, load]) => ({ path, Component: (await load()).default })),
  );
  const screenErrors: unknown[] = [];
  const hasOwnNavigate = portalSettings.navigate !== undefined;
  const router = createMemoryRouter(
    routeTree ?? [
      {
        element: <PortalProvider portal={portal} keepNavigate={hasOwnNavigate} />,
        errorElement: <ThrownError onError={(error) => screenErrors.push(error)} />,
        children: [
          ...pages,
          { path: routePattern, element: ui },
          ...(routePattern === "*" ? [] : [{ path: "*", element: null }]),
        ],
      },
    ],
    { initialEntries: [path] },
  );

  let renderResult: RenderResult | undefined;
  await act(async () => {
    renderResult = render(
      <I18nextProvider i18n={i18n}>
        <QueryClientProvider client={queryClient}>
          <GlobalStyle />
          <LazyMotion features={domAnimation}>
            <MotionConfig skipAnimations={!animated}>
              <Suspense fallback={null}>
                <RouterProvider router={router} />
              </Suspense>
            </MotionConfig>
          </LazyMotion>
        </QueryClientProvider>
      </I18nextProvider>,
    );
    await Promise.resolve();
  });
  if (renderResult === undefined) throw new Error("nothing was rendered");
  watchTextKeys(missingKeys);
  const { unmount } = renderResult;
  return {
    ...renderResult,
    unmount: () => {
      unmount();
      router.dispose();
    },
    portal,
    record,
    i18n,
    queryClient,
    screenErrors,
    getLocation: () => `${router.state.location.pathname}${router.state.location.search}`,
    goTo: async (target) => {
      await act(() => router.navigate(target));
    },
    goBack: async (steps = 1) => {
      await act(() => router.navigate(-steps));
    },
  };
}

/**
 * Creates a query client like the host's, but without retries, because failures in tests are
 * intended.
 */
export function createTestQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { retry: false, staleTime: 300_000, refetchOnWindowFocus: false, refetchOnReconnect: false },
      mutations: { retry: false },
    },
  });
}

function PortalProvider({ portal, keepNavigate }: { readonly portal: Portal; readonly keepNavigate: boolean }) {
  const navigate = useNavigate();
  useLeaveConfirmation(useBlocker(shouldBlockLeaving));
  const portalWithNavigation = useMemo(
    () =>
      keepNavigate
        ? portal
        : Object.freeze<Portal>({
            ...portal,
            navigate: (path, options) => {
              portal.navigate(path, options);
              void navigate(path, { replace: options?.replace ?? false });
            },
          }),
    [portal, keepNavigate, navigate],
  );
  return (
    <PortalContext.Provider value={portalWithNavigation}>
      <Suspense fallback={null}>
        <Outlet />
      </Suspense>
    </PortalContext.Provider>
  );
}

/** Stands where a screen threw. */
function ThrownError({ onError }: { readonly onError: (error: unknown) => void }) {
  const error = useRouteError();
  useEffect(() => {
    onError(error);
  }, [error, onError]);
  return <p role="alert">The screen threw: {String(error)}</p>;
}

const watchedKeySets: Set<string>[] = [];

function watchTextKeys(missingKeys: Set<string>): void {
  watchedKeySets.push(missingKeys);
}

/** Throws if screens of this test used missing texts. Runs after each test. */
export function expectTextsComplete(): void {
  const keys = watchedKeySets.splice(0).flatMap((missingKeys) => [...missingKeys]);
  if (keys.length > 0) throw new Error(`add these texts to the locale files: ${[...new Set(keys)].join(", ")}`);
}

acceptForeignSignals();
if (typeof afterEach === "function") afterEach(expectTextsComplete);

/**
 * Drops signals of another realm. The router creates a Request with jsdom's AbortSignal, which
 * Node's Request refuses. No test aborts a navigation.
 */
function acceptForeignSignals(): void {
  const NativeRequest = globalThis.Request;
  const NativeSignal = new NativeRequest("http://localhost/").signal.constructor;
  globalThis.Request = new Proxy(NativeRequest, {
    construct: (target, [input, init]: [string | URL, RequestInit | undefined]) => {
      const { signal, ...rest } = init ?? {};
      return new target(input, signal != null && signal instanceof NativeSignal ? { ...rest, signal } : rest);
    },
  });
}
