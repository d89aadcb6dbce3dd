import { pageStorage } from "@relicario/shared/contract";
import { isPortalError, type PortalError } from "@relicario/shared/errors";
import { Button, ErrorNotice, Notice } from "@relicario/shared/ui";
import { useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router-dom";

import { useHost } from "../context/host-context.ts";
import { getChosenVendorId, vendorIdKey } from "../session/fragment.ts";
import { NoticeBar } from "./OfflineNotice.tsx";

/**
 * Shown when the person has to sign in again, or when obtaining a session token failed and can be
 * retried. The screen below it stays unchanged.
 */
export function SessionNotice() {
  const { t } = useTranslation("header");
  const { session, vendor, verifiedDeployment } = useHost();
  const { pathname, search } = useLocation();
  const state = useSyncExternalStore(session.subscribe, session.getState);
  const exchange = useSyncExternalStore(session.exchange.subscribe, session.exchange.getState);
  const [isRetrying, setIsRetrying] = useState(false);

  // Signs in in a popup, so that typed text stays. Redirects the page only when no popup opens.
  const handleSignIn = () => {
    session.signInAgain().catch((error: unknown) => {
      if (!isPortalError(error, "cancelled", "timed_out")) void session.signIn(`${pathname}${search}`, { again: true });
    });
  };
  const error = exchange.status === "exchanging" ? null : (exchange.error ?? null);
  const mustSignIn = state.status === "error" || (error !== null && signInCodes.has(error.code));
  if (mustSignIn) {
    return (
      <NoticeBar>
        <Notice
          tone="warn"
          role="alert"
          title={t("session.ended_title")}
          actions={
            <Button size="small" onClick={handleSignIn}>
              {t("session.sign_in_action")}
            </Button>
          }
        >
          {t("session.ended_body")}
        </Notice>
      </NoticeBar>
    );
  }
  if (error === null || error.code === "clock_wrong") return null; // ClockNotice.tsx shows this error

  const handleRetry = () => {
    if (isRetrying) return;
    setIsRetrying(true);
    session.exchange
      .renew()
      .catch(() => undefined) // the exchange's state has the error, and this notice stays
      .finally(() => {
        setIsRetrying(false);
      });
  };
  const handleLeaveVendor = () => {
    pageStorage.session.removeItem(vendorIdKey);
    vendor.refresh();
    handleRetry();
  };
  return (
    <NoticeBar>
      <ErrorNotice error={error} onRetry={handleRetry}>
        {isChosenVendor(error) && (
          <Button size="small" onClick={handleLeaveVendor}>
            {t("vendor_disabled_action")}
          </Button>
        )}
      </ErrorNotice>
    </NoticeBar>
  );

  /**
   * Whether the vendor that a link named causes the error. Without it the portal's own vendor would
   * work.
   */
  function isChosenVendor({ code }: PortalError): boolean {
    const { vendor_id: ownVendorId } = verifiedDeployment.deployment;
    return (
      (code === "vendor_disabled" || code === "vendor_unknown") &&
      getChosenVendorId(pageStorage.session, ownVendorId) !== ownVendorId
    );
  }
}

const signInCodes: ReadonlySet<string> = new Set([
  "login_required",
  "consent_required",
  "interaction_required",
  "account_selection_required",
  "token_invalid",
  "token_expired",
  "login_failed",
]);
