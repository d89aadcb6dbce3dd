import { GlobalStyle, overlays } from "@relicario/shared/ui";
import { QueryClientProvider } from "@tanstack/react-query";
import { Suspense, useEffect, type ReactNode } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { I18nextProvider } from "react-i18next";

import { ConfirmHost } from "./frame/ConfirmHost.tsx";
import { Overlay } from "./frame/Overlay.tsx";
import { Crashed } from "./frame/ProblemScreens.tsx";
import { Toasts, toasts } from "./frame/Toasts.tsx";
import { mobileMenu } from "./frame/TopBar.tsx";
import { whenTouched } from "./frame/when-touched.ts";
import { HostContext, type Host } from "./host-context.ts";
import { warn } from "./warn.ts";

/** The provider stack of the page, and the boundary that keeps signing out alive whatever a screen throws. */
export function HostRoot({ host, children }: { readonly host: Host; readonly children: ReactNode }) {
  useEffect(() => whenTouched(window, fetchWhatOpens), []);
  return (
    <HostContext value={host}>
      <I18nextProvider i18n={host.i18n}>
        <QueryClientProvider client={host.queryClient}>
          <GlobalStyle $colors={host.verified.deployment.branding.colors} />
          <ErrorBoundary
            fallback={<Crashed onReload={() => window.location.reload()} onLogout={() => void host.session.signOut()} />}
            onError={(error) => {
              warn("host", error);
            }}
          >
            <Suspense fallback={<Overlay kind="signing_in" />}>
              {children}
              <ConfirmHost confirms={host.confirms} />
            </Suspense>
          </ErrorBoundary>
          <Toasts />
        </QueryClientProvider>
      </I18nextProvider>
    </HostContext>
  );
}

/** What a touch may open is on its way before it does; what fails is asked for again when it is needed. */
function fetchWhatOpens(): void {
  for (const fetched of [...[overlays, toasts, mobileMenu].map((later) => later.load()), import("@relicario/shared/forms")]) fetched.catch(() => undefined);
}
