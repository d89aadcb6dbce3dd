import { TriangleAlert } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import type { ConfirmOptions } from "../contract/portal.ts";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { s } from "./tokens.ts";

export interface ConfirmDialogProps extends ConfirmOptions {
  readonly open: boolean;
  /**
   * Called with true by the left button, and with false by the right button, Escape or a click
   * outside.
   */
  readonly onAnswer: (confirmed: boolean) => void;
  /** Disables both buttons while the confirmed action runs. */
  readonly disabled?: boolean;
}

/**
 * Confirmation dialog (specification, section 2). By default it has "Yes" on the left and "Cancel"
 * on the right.
 */
export function ConfirmDialog({
  open,
  onAnswer,
  title,
  description,
  confirmLabel,
  cancelLabel,
  alert = false,
  singleButton = false,
  mustAnswer = false,
  disabled = false,
  danger = false,
}: ConfirmDialogProps) {
  const { t } = useTranslation("common");
  return (
    <Dialog
      open={open}
      onClose={() => {
        onAnswer(false);
      }}
      title={title}
      description={description}
      mustAnswer={mustAnswer || disabled}
      role={alert ? "alertdialog" : "dialog"}
      icon={alert ? <AlertIcon aria-hidden /> : undefined}
      footer={
        <>
          <Button
            tone={danger ? "danger" : "primary"}
            disabled={disabled}
            onClick={() => {
              onAnswer(true);
            }}
          >
            {confirmLabel ?? t("confirm.yes_action")}
          </Button>
          {!singleButton && (
            <Button
              tone={danger ? "primary" : "quiet"}
              disabled={disabled}
              data-autofocus={alert || danger || undefined}
              onClick={() => {
                onAnswer(false);
              }}
            >
              {cancelLabel ?? t("confirm.cancel_action")}
            </Button>
          )}
        </>
      }
    />
  );
}

const AlertIcon = styled(TriangleAlert)`
  color: ${s("dangerText")};
`;
