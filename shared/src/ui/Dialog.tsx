import { useCallback, useMemo, useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { useLater } from "./later.ts";
import { overlays } from "./overlays-later.ts";

/** What every dialog takes. */
export interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

export interface DialogWithContentProps extends DialogProps {
  readonly title: string;
  readonly description?: ReactNode;
  /** Beside the title. */
  readonly icon?: ReactNode;
  /** Neither Escape nor a click outside closes it, and it has no cross. */
  readonly mustAnswer?: boolean;
  /** `alertdialog` interrupts. */
  readonly role?: "dialog" | "alertdialog";
  /** Buttons. */
  readonly footer?: ReactNode;
  readonly children?: ReactNode;
}

/** A dialog with focus kept inside; Escape and a click outside close it. */
export function Dialog(props: DialogWithContentProps) {
  const { t } = useTranslation("errors");
  const parts = useLater(overlays, props.open, () => {
    window.alert(t("remote_unreachable")); // the browser's own needs no code
    props.onClose();
  });
  return parts !== null && <parts.DialogSheet {...props} />;
}

/** Whether a dialog is open, with its two moves. */
export function useDialog(initiallyOpen = false): DialogProps & { readonly show: () => void } {
  const [open, setOpen] = useState(initiallyOpen);
  const show = useCallback(() => {
    setOpen(true);
  }, []);
  const onClose = useCallback(() => {
    setOpen(false);
  }, []);
  return useMemo(() => ({ open, show, onClose }), [open, show, onClose]);
}
