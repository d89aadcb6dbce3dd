import { isPortalError, PortalError } from "@relicario/shared/errors";
import { Button, Notice, useErrorMessage } from "@relicario/shared/ui";
import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";

import { useHost } from "../context/host-context.ts";
import { NoticeBar } from "./OfflineNotice.tsx";

/** Says that this device's clock is wrong, and shows the times of both clocks. */
export function ClockNotice() {
  const { t } = useTranslation("header");
  const { session, verifiedDeployment } = useHost();
  const describeError = useErrorMessage();
  const exchange = useSyncExternalStore(session.exchange.subscribe, session.exchange.getState);
  const exchangeError = exchange.status === "exchanging" ? null : (exchange.error ?? null);
  const { wrongClock } = verifiedDeployment;
  const hasPreventedSignIn = isPortalError(exchangeError, "clock_wrong");
  const error = hasPreventedSignIn
    ? exchangeError
    : wrongClock === null
      ? null
      : new PortalError("clock_wrong", { details: { ...wrongClock } });
  if (error === null) return null;
  const handleRetry = () => {
    session.exchange.renew().catch(() => undefined); // the exchange's state has the error, and this notice stays
  };
  return (
    <NoticeBar>
      <Notice
        tone="warn"
        role="alert"
        actions={
          hasPreventedSignIn ? (
            <Button size="small" onClick={handleRetry}>
              {t("clock_retry_action")}
            </Button>
          ) : undefined
        }
      >
        {describeError(error)}
      </Notice>
    </NoticeBar>
  );
}
