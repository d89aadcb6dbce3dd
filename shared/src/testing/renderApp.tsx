import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, configure, render, type RenderResult } from "@testing-library/react";
import { domAnimation, LazyMotion, MotionConfig } from "framer-motion";
import type { i18n as I18n } from "i18next";
import { Suspense, useMemo, type ReactNode } from "react";
import { I18nextProvider } from "react-i18next";
import {
  createMemoryRouter,
  Outlet,
  RouterProvider,
  useBlocker,
  useNavigate,
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

configure({ asyncUtilTimeout: 15_000 }); // a busy machine is slow

export interface RenderAppSettings extends FakePortalSettings {
  readonly language?: Language;
  readonly theme?: ThemeName;
  /** Where the page stands at the start, with query. */
  readonly path?: string;
  /**
   * The pattern that the screen is shown at, such as `/edit-secret/:secretId`; any path unless told
   * otherwise.
   */
  readonly route?: string;
  /** Screens of a remote, beside `ui`. */
  readonly routes?: RemoteModule["routes"];
  /** Runs animations, which are off otherwise. */
  readonly animated?: boolean;
  /**
   * All that the router knows, in place of `ui` and of the portal around it: for the host, which
   * brings both.
   */
  readonly routeTree?: RouteObject[];
  /** Folder of texts, `<language>/<namespace>.json`, before those of the packages. */
  readonly locales?: string | undefined;
}

export interface RenderedApp extends RenderResult {
  readonly portal: Portal;
  readonly record: PortalRecord;
  readonly i18n: I18n;
  readonly queryClient: QueryClient;
  /** Path and query where the page stands now. */
  readonly location: () => string;
  readonly goTo: (path: string) => Promise<void>;
  /** So many entries of the history; forth when negative. */
  readonly goBack: (steps?: number) => Promise<void>;
}

/**
 * Draws a screen as the host would: real texts, real theme, router, query cache, and a portal whose
 * service and vault are in memory. A text that is missing fails the test.
 */
export async function renderApp(ui: ReactNode, settings: RenderAppSettings = {}): Promise<RenderedApp> {
  const {
    language = "en",
    theme = "light",
    path = "/",
    route = "*",
    routes = {},
    routeTree,
    animated = false,
    locales,
    ...portalSettings
  } = settings;
  const { portal, record } = createFakePortal({ ...portalSettings, language, theme });
  const missingKeys = new Set<string>();
  const i18n = await createI18n({
    language,
    product: portal.vendor.branding.productName,
    fetchTexts: createDiskTextsFetcher(locales),
    namespaces: ["common", "errors"],
    onMissingKey: (key) => missingKeys.add(key),
  });
  const queryClient = createTestQueryClient();
  document.documentElement.lang = language;
  document.documentElement.dataset["theme"] = theme;

  const pages = await Promise.all(
    Object.entries(routes).map(async ([path, load]) => ({ path, Component: (await load()).default })),
  );
  const hasOwnNavigate = portalSettings.navigate !== undefined;
  const router = createMemoryRouter(
    routeTree ?? [
      {
        element: <PortalProvider portal={portal} keepNavigate={hasOwnNavigate} />,
        children: [...pages, { path: route, element: ui }, ...(route === "*" ? [] : [{ path: "*", element: null }])],
      },
    ],
    { initialEntries: [path] },
  );

  let rendered: RenderResult | undefined;
  await act(async () => {
    rendered = render(
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
  if (rendered === undefined) throw new Error("nothing was drawn");
  watchTextKeys(missingKeys);
  const { unmount } = rendered;
  return {
    ...rendered,
    unmount: () => {
      unmount();
      router.dispose();
    },
    portal,
    record,
    i18n,
    queryClient,
    location: () => `${router.state.location.pathname}${router.state.location.search}`,
    goTo: async (target) => {
      await act(() => router.navigate(target));
    },
    goBack: async (steps = 1) => {
      await act(() => router.navigate(-steps));
    },
  };
}

/** Like the host's, without retries: failures in tests are intended. */
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

const watchedKeySets: Set<string>[] = [];

function watchTextKeys(missing: Set<string>): void {
  watchedKeySets.push(missing);
}

/** Throws when screens of this test used texts that do not exist. Runs after each test. */
export function expectTextsComplete(): void {
  const keys = watchedKeySets.splice(0).flatMap((missing) => [...missing]);
  if (keys.length > 0) throw new Error(`texts are missing: ${[...new Set(keys)].join(", ")}`);
}

acceptForeignSignals();
if (typeof afterEach === "function") afterEach(expectTextsComplete);

/**
 * The router makes a Request with jsdom's AbortSignal, and Node's Request refuses a signal of
 * another realm. No test aborts a navigation, so such a signal is dropped.
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
