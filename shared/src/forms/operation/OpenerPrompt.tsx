import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import type { KeepOpenStatus, PictureFieldProps, Vault, VaultProgress } from "../../contract/index.ts";
import { isPortalError } from "../../errors/index.ts";
import { Button, type ButtonProps } from "../../ui/Button.tsx";
import { useErrorMessage } from "../../ui/error-message.ts";
import { SmallText, SpacedRow, Stack } from "../../ui/layout.tsx";
import { ErrorNotice, Notice } from "../../ui/notices.tsx";
import { s, space } from "../../ui/tokens.ts";
import { FieldError } from "../Field.tsx";
import { OperationProgress, type PhaseTexts } from "./OperationProgress.tsx";
import type { VaultOperation } from "./useVaultOperation.ts";

export interface OpenerPromptProps extends Pick<ButtonProps, "tone" | "size" | "type" | "aria-label"> {
  readonly vault: Pick<Vault, "PictureField">;
  readonly operation: VaultOperation;
  /** Label of the button that continues. */
  readonly label: string;
  /** By default {@link VaultOperation.resume}. With `type="submit"` the form handles the press. */
  readonly onSubmit?: () => void;
  /** Called by the cancel button while nothing runs. Without it there is then no cancel button. */
  readonly onClose?: () => void;
  readonly purpose?: PictureFieldProps["purpose"];
  readonly pictureOnly?: boolean;
  /**
   * Label of the cancel button while the operation runs, for operations whose partial work stays.
   */
  readonly stopLabel?: string;
  /** False if cancelling would discard work that is already done. */
  readonly cancellable?: boolean;
  /** Replaces the default text that an opener is missing. */
  readonly missingText?: string;
  readonly initialPhase?: VaultProgress["phase"];
  readonly phaseTexts?: PhaseTexts;
  /** Replaces the default error notice. Null shows none. */
  readonly failure?: ReactNode;
  /** More fields, shown below the opener. */
  readonly children?: ReactNode;
}

/**
 * Asks for a way to open, which can stay empty where the operation uses the one that is kept open,
 * and runs the operation with it. Shows the operation's progress and error,
 * and can cancel it. There is no other such prompt (decision 0037).
 */
export function OpenerPrompt({
  vault,
  operation,
  label,
  onSubmit = operation.resume,
  onClose,
  purpose = "show",
  pictureOnly = false,
  cancellable = true,
  stopLabel,
  missingText,
  initialPhase,
  phaseTexts = {},
  failure,
  children,
  type = "button",
  size = "medium",
  ...buttonProps
}: OpenerPromptProps) {
  const { t } = useTranslation("common");
  const { running, progress, error, openerMissing, asksOpener, keepOpenStatus } = operation;
  const handleCancel = running ? (cancellable ? operation.cancel : undefined) : onClose;
  const needsPicture = pictureOnly || purpose !== "show";
  return (
    <Stack $gap={4}>
      <vault.PictureField
        purpose={purpose}
        pictureOnly={pictureOnly}
        value={operation.opener}
        disabled={running}
        onChange={operation.setOpener}
      />
      {(!asksOpener || keepOpenStatus !== "open") && <KeptOpenNote status={keepOpenStatus} />}
      {openerMissing && (
        <FieldError>
          {missingText ?? t(needsPicture ? "opener.picture_missing_error" : "opener.missing_error")}
        </FieldError>
      )}
      {children}
      {failure === undefined ? <OpenerFailure error={error} /> : failure}
      {running && <OperationProgress progress={progress} initialPhase={initialPhase} phaseTexts={phaseTexts} />}
      <SpacedRow>
        <Button
          {...buttonProps}
          type={type}
          size={size}
          pending={running}
          onClick={type === "submit" ? undefined : onSubmit}
        >
          {label}
        </Button>
        {handleCancel !== undefined && (
          <Button tone="quiet" size={size} onClick={handleCancel}>
            {running && stopLabel !== undefined ? stopLabel : t("opener.cancel_action")}
          </Button>
        )}
      </SpacedRow>
    </Stack>
  );
}

/** Says that a field for a way to open can stay empty, or why no longer. */
export function KeptOpenNote({ status }: { readonly status: KeepOpenStatus }) {
  const { t } = useTranslation("common");
  if (status === "none") return null;
  return <SmallText>{t(`opener.kept_${status}_body`)}</SmallText>;
}

/** Shows a wrong picture only as a warning, because another picture may work. */
function OpenerFailure({ error }: Pick<VaultOperation, "error">) {
  const describeError = useErrorMessage();
  if (!isPortalError(error, "not_this_picture", "not_this_picture_or_passphrase")) return <ErrorNotice error={error} />;
  return (
    <Notice tone="warn" role="alert">
      {describeError(error)}
    </Notice>
  );
}

export interface RequestedOpenerProps extends Pick<OpenerPromptProps, "vault" | "operation"> {
  /**
   * Explains why an opener is required. By default: a change needs one, which stays until the lock.
   */
  readonly reason?: string;
  /** Label of the button that continues. */
  readonly label?: string;
}

/**
 * Shows the progress and the error of an operation, and a prompt once the operation needs an
 * opener. Renders nothing before the operation starts.
 */
export function RequestedOpener({ vault, operation, label, reason }: RequestedOpenerProps) {
  const { t } = useTranslation("common");
  const { running, progress, error, asksOpener, cancel } = operation;
  const shownReason = reason ?? t("opener.change_body");
  if (!asksOpener) {
    if (running && progress !== null) return <OperationProgress progress={progress} initialPhase="picture" />;
    return <ErrorNotice error={error} />;
  }
  return (
    <Panel role="group" aria-label={shownReason}>
      <SmallText>{shownReason}</SmallText>
      <OpenerPrompt vault={vault} operation={operation} label={label ?? t("opener.continue_action")} onClose={cancel} />
    </Panel>
  );
}

const Panel = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(4)};
  padding: ${space(4)};
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
`;
