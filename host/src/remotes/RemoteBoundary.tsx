import type { RemoteName } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import { Button, Notice, Page } from "@relicario/shared/ui";
import type { ReactNode } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { useTranslation } from "react-i18next";

import { useAreaTitle } from "./area-title.ts";

export interface RemoteBoundaryProps {
  readonly name: RemoteName;
  /** Called before the area is drawn again: whatever failed must load anew. */
  readonly onRetry: () => void;
  /** Somebody went elsewhere: what failed there says nothing of here. */
  readonly place: string;
  readonly onCrash: (name: RemoteName, error: PortalError) => void;
  readonly children: ReactNode;
}

/** Keeps a remote's failure inside its area: says which one it is and offers to try again, while the frame lives on. */
export function RemoteBoundary({ name, onRetry, place, onCrash, children }: RemoteBoundaryProps) {
  return (
    <ErrorBoundary
      resetKeys={[name, place]}
      onReset={onRetry}
      onError={(error) => {
        onCrash(name, areaError(error));
      }}
      fallbackRender={({ error, resetErrorBoundary }) => <AreaFailed name={name} error={areaError(error)} onRetry={resetErrorBoundary} />}
    >
      {children}
    </ErrorBoundary>
  );
}

export interface AreaFailedProps {
  readonly name: RemoteName;
  readonly error: PortalError;
  /** Loads the area anew; what was switched off needs a new page instead. */
  readonly onRetry: () => void;
}

/** Stands for an area that does not work: names it, and says why. */
export function AreaFailed({ name, ...problem }: AreaFailedProps) {
  const titleOf = useAreaTitle();
  return <AreaProblem area={titleOf(name)} {...problem} />;
}

export interface AreaProblemProps extends Omit<AreaFailedProps, "name"> {
  /** What the area is called. */
  readonly area: string;
}

export function AreaProblem({ area, error, onRetry }: AreaProblemProps) {
  const { t } = useTranslation(["header", "common", "errors"]);
  const retry = t(error.code === "remote_disabled" ? "header:crashed.reload_action" : "common:error.retry_action");
  return (
    <Page title={area}>
      <Notice
        tone="danger"
        role="alert"
        title={t("header:area.failed_title", { area })}
        actions={<Button onClick={onRetry}>{retry}</Button>}
      >
        {t(`errors:${error.code}`)}
      </Notice>
    </Page>
  );
}

/** What is thrown while drawing has no code of ours: the area stopped. */
function areaError(error: unknown): PortalError {
  const known = toPortalError(error);
  return known.code === "unknown" ? new PortalError("remote_crashed", { cause: error }) : known;
}
