import { GlobalStyle } from "@relicario/shared/ui";
import { QueryClientProvider } from "@tanstack/react-query";
import { domAnimation, LazyMotion, MotionConfig, useReducedMotion } from "framer-motion";
import { Suspense, useEffect, type ReactNode } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { I18nextProvider } from "react-i18next";

import { ConfirmHost } from "./popups/dialog-hosts.tsx";
import { Overlay } from "./frame/Overlay.tsx";
import { Crashed } from "./frame/ProblemScreens.tsx";
import { Toasts } from "./popups/Toasts.tsx";
import { HostContext, type Host } from "./context/host-context.ts";
import { prefetchWhenIdle } from "./prefetch-when-idle.ts";
import { warn } from "./telemetry/warn.ts";

/**
 * Provides the contexts of the page, and an error boundary that offers signing out when a screen
 * throws.
 */
export function HostRoot({ host, children }: { readonly host: Host; readonly children: ReactNode }) {
  useEffect(() => prefetchWhenIdle(document.body), []);
  const prefersReducedMotion = useReducedMotion() === true; // MotionConfig does not stop fades
  return (
    <HostContext value={host}>
      <I18nextProvider i18n={host.i18n}>
        <QueryClientProvider client={host.queryClient}>
          <GlobalStyle $colors={host.verifiedDeployment.deployment.branding.colors} />
          <LazyMotion features={domAnimation}>
            <MotionConfig reducedMotion="user" skipAnimations={prefersReducedMotion}>
              <ErrorBoundary
                fallback={
                  <Crashed onReload={() => window.location.reload()} onLogout={() => void host.session.signOut()} />
                }
                onError={(error) => {
                  warn("host", error);
                }}
              >
                <Suspense fallback={<Overlay kind="signing_in" />}>
                  {children}
                  <ConfirmHost confirmQueue={host.confirmQueue} />
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
