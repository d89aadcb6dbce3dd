import { depths, layoutBlockMilliseconds, s, space, useDialog } from "@relicario/shared/ui";
import { useRef, useState, useSyncExternalStore, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router-dom";
import { styled } from "styled-components";

import { useHost } from "../context/host-context.ts";
import { isSharedLinkView } from "../routes/routes.ts";
import { getClaims } from "../session/token-exchange.ts";
import { BrowserCheck } from "./BrowserCheck.tsx";
import { ClockNotice } from "./ClockNotice.tsx";
import { frameSizes } from "../popups/frame-sizes.ts";
import { DeletionNotice } from "./DeletionNotice.tsx";
import { ExposedLinkNotice } from "./ExposedLinkNotice.tsx";
import { LeftOutNotice } from "./LeftOutNotice.tsx";
import { LogoutDialog } from "./LogoutDialog.tsx";
import { MobileBar } from "./MobileBar.tsx";
import { OfflineNotice } from "./OfflineNotice.tsx";
import { OverrideNotice } from "./OverrideNotice.tsx";
import { ReleaseNotice } from "./ReleaseNotice.tsx";
import { ServiceNotice } from "./ServiceNotice.tsx";
import { SessionNotice } from "./SessionNotice.tsx";
import { Sidebar } from "./Sidebar.tsx";
import { TopBar } from "./TopBar.tsx";
import { useIsMobile } from "./use-media-query.ts";
import { useRouteChange } from "./use-route-change.ts";
import { useDisableMotionOnResize } from "./use-disable-motion-on-resize.ts";
import { VendorLayout } from "./VendorLayout.tsx";

export interface FrameProps {
  readonly userName: string;
  /** False for screens without navigation. */
  readonly shell: boolean;
  readonly signedIn: boolean;
  readonly children: ReactNode;
}

/**
 * Layout around every screen: navigation, notices, and the `main` element, to which a skip link
 * leads.
 */
export function Frame({ userName, shell, signedIn, children }: FrameProps) {
  const { t } = useTranslation("header");
  const { session, verifiedDeployment } = useHost();
  const { pathname, search } = useLocation();
  const claims = getClaims(useSyncExternalStore(session.exchange.subscribe, session.exchange.getState));
  const mobile = useIsMobile();
  const logoutDialog = useDialog();
  const [narrow, toggleNarrow] = useNarrow();
  const main = useRef<HTMLElement>(null);
  useRouteChange(main);
  useDisableMotionOnResize();

  const product = verifiedDeployment.deployment.branding.product_name;
  const onLogout = signedIn && !isSharedLinkView(pathname) ? logoutDialog.show : null;
  const onLogin = () => {
    void session.signIn(`${pathname}${search}`);
  };

  return (
    <Layout data-mobile={mobile} data-shell={shell}>
      <SkipLink
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t("skip_action")}
      </SkipLink>
      {shell && !mobile && (
        <Sidebar
          product={product}
          narrow={narrow}
          onToggle={toggleNarrow}
          userName={userName}
          onLogout={onLogout}
          onLogin={onLogin}
        />
      )}
      {shell && mobile && <TopBar product={product} userName={userName} onLogout={onLogout} onLogin={onLogin} />}
      <Main id="main" ref={main} tabIndex={-1} data-tour="layout-main" data-bar={shell && mobile && onLogout !== null}>
        <VendorLayout>
          <OfflineNotice />
          <ClockNotice />
          <SessionNotice />
          <ExposedLinkNotice />
          <ServiceNotice />
          <ReleaseNotice />
          <OverrideNotice />
          <LeftOutNotice />
          {claims !== null && <DeletionNotice userId={claims.sub} />}
          {children}
        </VendorLayout>
      </Main>
      {shell && mobile && onLogout !== null && <MobileBar onLogout={onLogout} />}
      {signedIn && <BrowserCheck />}
      <LogoutDialog open={logoutDialog.open} onClose={logoutDialog.onClose} />
    </Layout>
  );
}

/** Whether the sidebar is narrow. Clicks during its 250 ms animation are ignored. */
function useNarrow(): [boolean, () => void] {
  const [narrow, setNarrow] = useState(() => window.matchMedia("(max-width: 1023.98px)").matches);
  const changedAt = useRef(Number.NEGATIVE_INFINITY);
  const toggle = () => {
    const now = performance.now();
    if (now - changedAt.current < layoutBlockMilliseconds) return;
    changedAt.current = now;
    setNarrow((previous) => !previous);
  };
  return [narrow, toggle];
}

const Layout = styled.div`
  display: flex;
  min-height: 100dvh;
  &[data-mobile="true"] {
    flex-direction: column;
  }
`;

const SkipLink = styled.a`
  position: fixed;
  top: ${space(2)};
  left: ${space(2)};
  z-index: ${depths.toast};
  padding: ${space(3)} ${space(4)};
  border-radius: ${s("radius")};
  background: ${s("accent")};
  color: ${s("onAccent")};
  &:not(:focus) {
    transform: translateY(-200%);
  }
`;

const Main = styled.main`
  flex: 1 1 auto;
  min-width: 0;
  outline: none;
  &[data-bar="true"] {
    padding-bottom: calc(${frameSizes.mobileBar}px + env(safe-area-inset-bottom));
  }
`;
