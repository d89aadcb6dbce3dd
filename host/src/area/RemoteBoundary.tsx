import type { RemoteName } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import { Button, Notice, Page } from "@relicario/shared/ui";
import type { ReactNode } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { useTranslation } from "react-i18next";

import { useAreaTitle } from "./area-title.ts";

export interface RemoteBoundaryProps {
  readonly name: RemoteName;
  /** Called before the area renders again: loads the failed code again. */
  readonly onRetry: () => void;
  /** The boundary resets when the path changes. */
  readonly pathname: string;
  readonly onCrash: (name: RemoteName, error: PortalError) => void;
  readonly children: ReactNode;
}

/** Keeps a remote's failure inside its area and offers a retry. The frame keeps working. */
export function RemoteBoundary({ name, onRetry, pathname, onCrash, children }: RemoteBoundaryProps) {
  return (
    <ErrorBoundary
      resetKeys={[name, pathname]}
      onReset={onRetry}
      onError={(error) => {
        onCrash(name, toAreaError(error));
      }}
      fallbackRender={({ error, resetErrorBoundary }) => (
        <RemoteAreaProblem name={name} error={toAreaError(error)} onRetry={resetErrorBoundary} />
      )}
    >
      {children}
    </ErrorBoundary>
  );
}

export interface RemoteAreaProblemProps {
  readonly name: RemoteName;
  readonly error: PortalError;
  /** Loads the area again. If the remote was disabled or left out, reloads the page. */
  readonly onRetry: () => void;
}

/** Replaces a failed area with its name and the reason. */
export function RemoteAreaProblem({ name, ...problem }: RemoteAreaProblemProps) {
  const getTitle = useAreaTitle();
  return <AreaProblem area={getTitle(name)} {...problem} />;
}

export interface AreaProblemProps extends Omit<RemoteAreaProblemProps, "name"> {
  /** Any error but a PortalError was thrown while rendering: the area crashed. */
  readonly area: string;
}

export function AreaProblem({ area, error, onRetry }: AreaProblemProps) {
  const { t } = useTranslation(["header", "common", "errors"]);
  const retryLabel = t(
    error.code === "remote_disabled"
      ? "header:crashed.reload_action"
      : error.code === "remote_left_out"
        ? "header:left_out.load_one_action"
        : "common:error.retry_action",
  );
  return (
    <Page title={area}>
      <Notice
        tone="danger"
        role="alert"
        title={t("header:area.failed_title", { area })}
        actions={<Button onClick={onRetry}>{retryLabel}</Button>}
      >
        {t(`errors:${error.code}`)}
      </Notice>
    </Page>
  );
}

/** An error that is not a PortalError was thrown while rendering: the area crashed. */
function toAreaError(error: unknown): PortalError {
  const portalError = toPortalError(error);
  return portalError.code === "unknown" ? new PortalError("remote_crashed", { cause: error }) : portalError;
}
