import { Button, Notice, Page } from "@relicario/shared/ui";
import { Suspense, type ReactNode } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router-dom";

import { AreaLoading } from "./AreaLoading.tsx";
import { warn } from "../telemetry/warn.ts";

/**
 * Boundary of the host's own screens. The frame stays usable while their code loads, and when
 * loading fails.
 */
export function HostArea({ children }: { readonly children: ReactNode }) {
  const { key } = useLocation();
  return (
    <ErrorBoundary
      resetKeys={[key]}
      fallback={<ScreenFailed />}
      onError={(error) => {
        warn("screen", error);
      }}
    >
      <Suspense fallback={<AreaLoading />}>{children}</Suspense>
    </ErrorBoundary>
  );
}

function ScreenFailed() {
  const { t } = useTranslation(["header", "errors"]);
  return (
    <Page title={t("header:crashed.title")}>
      <Notice
        tone="danger"
        role="alert"
        actions={
          <Button
            onClick={() => {
              window.location.reload();
            }}
          >
            {t("header:crashed.reload_action")}
          </Button>
        }
      >
        {t("errors:remote_unreachable")}
      </Notice>
    </Page>
  );
}
