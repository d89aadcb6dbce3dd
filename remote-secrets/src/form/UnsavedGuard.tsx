import { useEffect } from "react";
import { useTranslation } from "react-i18next";

import { LeaveGuard } from "../notices/LeaveGuard.tsx";

interface UnsavedGuardProps {
  /** Something was typed. */
  readonly dirty: boolean;
  /** Set once all is saved: leaving is free, and goes there. */
  readonly saved: { readonly path: string } | null;
  readonly onLeave: (path: string) => void;
}

/** Asks before something typed is lost. */
export function UnsavedGuard({ dirty, saved, onLeave }: UnsavedGuardProps) {
  const { t } = useTranslation("beta-add-secret");
  useEffect(() => {
    if (saved !== null) onLeave(saved.path);
  }, [saved, onLeave]);
  return (
    <LeaveGuard
      guarding={dirty && saved === null}
      title={t("leave.confirm_title")}
      body={t("leave.confirm_body")}
      leave={t("leave.confirm_action")}
      stay={t("leave.stay_action")}
    />
  );
}
