import { isPortalError } from "@relicario/shared/errors";
import { Button, ErrorNotice, Notice } from "@relicario/shared/ui";
import { useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router-dom";

import { useHost } from "../context/host-context.ts";
import { NoticeBar } from "./OfflineNotice.tsx";

/**
 * A notice above the screen when the person has to sign in again, or when no session token could be
 * obtained and can be asked for once more. The screen below stays as it is.
 */
export function SessionNotice() {
  const { t } = useTranslation("header");
  const { session } = useHost();
  const { pathname, search } = useLocation();
  const state = useSyncExternalStore(session.subscribe, session.getState);
  const exchange = useSyncExternalStore(session.exchange.subscribe, session.exchange.getState);
  const [isRetrying, setIsRetrying] = useState(false);

  // In a window beside the page, so that what is typed stays. Only where no window can be opened,
  // by leaving the page.
  const handleSignIn = () => {
    session.signInAgain().catch((error: unknown) => {
      if (!isPortalError(error, "cancelled", "timed_out")) void session.signIn(`${pathname}${search}`);
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
  if (error === null) return null;

  const handleRetry = () => {
    if (isRetrying) return;
    setIsRetrying(true);
    session.exchange
      .renew()
      .catch(() => undefined) // the state has the error, and this notice stays
      .finally(() => {
        setIsRetrying(false);
      });
  };
  return (
    <NoticeBar>
      <ErrorNotice error={error} onRetry={handleRetry} />
    </NoticeBar>
  );
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
