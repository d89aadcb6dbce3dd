import type { Language, RemoteName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { createI18n, fallbackLanguage, isLanguage, rememberLanguage, type Texts } from "@relicario/shared/i18n";
import { GlobalStyle } from "@relicario/shared/ui";
import { QueryClientProvider } from "@tanstack/react-query";
import { domAnimation, LazyMotion, MotionConfig } from "framer-motion";
import { Suspense, type ReactNode } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { I18nextProvider } from "react-i18next";
import { createBrowserRouter, RouterProvider, useRouteError } from "react-router-dom";

import { App } from "./App.tsx";
import type { VerifiedDeployment } from "./deployment/verify.ts";
import { ConfirmHost } from "./frame/ConfirmHost.tsx";
import { createConfirms } from "./frame/confirms.ts";
import { Overlay } from "./frame/Overlay.tsx";
import { Crashed } from "./frame/ProblemScreens.tsx";
import { clearToasts, showToast, Toasts } from "./frame/Toasts.tsx";
import { HostContext, type Host } from "./host-context.ts";
import { loadFace, registerVerified } from "./remotes/federation.ts";
import { createRemoteLoader } from "./remotes/loader.ts";
import { scopedHttp } from "./remotes/scoped-http.ts";
import { createVaultSource } from "./remotes/vault-source.ts";
import { createSession } from "./session/session.ts";
import { createQueryClient } from "./settings/query-client.ts";
import { pinnedTexts } from "./settings/texts.ts";
import type { ThemeStore } from "./settings/theme.ts";

export interface HostSettings {
  readonly verified: VerifiedDeployment;
  readonly language: Language;
  readonly theme: ThemeStore;
  /** The host's own texts in that language. */
  readonly texts: Readonly<Record<string, Texts>>;
}

/** Puts the parts together, reads who is signed in, and gives the page. */
export async function startHost({ verified, language, theme, texts }: HostSettings): Promise<ReactNode> {
  const { deployment } = verified;
  const { origin } = window.location;
  const queryClient = createQueryClient();
  const confirms = createConfirms();

  const i18n = await createI18n({
    language,
    product: deployment.branding.product_name,
    fetchTexts: pinnedTexts(verified, origin, window.fetch.bind(window)),
    bundled: { [language]: texts },
  });
  const currentLanguage = () => (isLanguage(i18n.resolvedLanguage) ? i18n.resolvedLanguage : fallbackLanguage);
  document.title = deployment.branding.product_name;

  registerVerified(verified, origin);
  const report: Host["report"] = (name, phase, error) => {
    warn(`remote ${name}`, `${phase} ${error.code}`);
  };
  const loader = createRemoteLoader({
    remotes: verified.remotes,
    loadFace,
    loadTexts: async (namespaces) => {
      const missing = () => namespaces.filter((namespace) => !i18n.hasResourceBundle(currentLanguage(), namespace));
      await i18n.loadNamespaces([...namespaces]);
      // i18next remembers a namespace that failed; this asks for it anew.
      if (missing().length > 0) await i18n.reloadResources([currentLanguage()], missing());
      if (missing().length > 0) throw new PortalError("remote_unreachable");
    },
    onFailure: (name: RemoteName, error) => {
      report(name, "load", error);
    },
  });

  const clearCaches = () => {
    queryClient.clear();
    clearToasts();
  };
  const session = createSession({
    deployment,
    window,
    language: currentLanguage,
    clearCaches,
    onVendorIgnored: () => {
      showToast({ tone: "info", text: i18n.t("header:vendor_ignored_body") });
    },
    log: warn,
    channel: typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("session"),
  });
  const vault = createVaultSource({
    loadRecovery: () => loader.load("recovery"),
    portal: async () => {
      await session.exchange.token();
      const exchange = session.exchange.getState();
      const state = session.getState();
      const user = state.status === "unauthenticated" ? null : state.user;
      const claims = exchange.status === "ready" ? exchange.session.claims : exchange.status === "exchanging" ? exchange.previous?.claims : undefined;
      const recovery = verified.remotes.get("recovery");
      if (user === null || claims === undefined) throw new PortalError("login_required");
      return {
        http: scopedHttp(session.http, recovery?.status === "verified" ? recovery.record.api_paths : []),
        vendorId: claims.vid,
        account: { userId: claims.sub, issuer: user.issuer, subject: user.subject },
        signInAgain: session.signInAgain,
      };
    },
  });
  session.onLock((reason) => vault.putAway(reason));
  // The vault was locked, by whoever: everybody puts plaintext away, and what is on the screen is asked for anew.
  vault.onLocked(() => {
    queryClient.removeQueries({ type: "inactive" });
    void queryClient.resetQueries();
    void session.lock();
  });

  const host: Host = {
    verified,
    session,
    loader,
    vault,
    queryClient,
    i18n,
    theme,
    confirms,
    report,
    changeLanguage: async (next) => {
      rememberLanguage(window.localStorage, next);
      await i18n.changeLanguage(next);
      document.documentElement.lang = next;
    },
  };
  await session.start();
  const router = createBrowserRouter([{ path: "*", Component: App, ErrorBoundary: Rethrown }]);
  return (
    <HostContext value={host}>
      <I18nextProvider i18n={i18n}>
        <QueryClientProvider client={queryClient}>
          <GlobalStyle $colors={deployment.branding.colors} />
          <LazyMotion features={domAnimation} strict>
            <MotionConfig reducedMotion="user">
              <ErrorBoundary
                fallback={<Crashed onReload={() => window.location.reload()} onLogout={() => void session.signOut()} />}
                onError={(error) => {
                  warn("host", error);
                }}
              >
                <Suspense fallback={<Overlay kind="signing_in" />}>
                  <RouterProvider router={router} />
                  <ConfirmHost confirms={confirms} />
                </Suspense>
              </ErrorBoundary>
              <Toasts />
            </MotionConfig>
          </LazyMotion>
        </QueryClientProvider>
      </I18nextProvider>
    </HostContext>
  );
}

/** The router catches what a screen throws; the boundary around it shows it. */
function Rethrown(): never {
  throw useRouteError();
}

/** For developers' eyes: a step and what failed, never a token or a text of the person. */
function warn(step: string, error: unknown): void {
  // eslint-disable-next-line no-console -- the one place where the host writes to the console
  console.warn(step, typeof error === "string" ? error : error instanceof PortalError ? error.code : error instanceof Error ? error.name : "");
}
