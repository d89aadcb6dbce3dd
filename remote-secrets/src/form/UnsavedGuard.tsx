import { LeaveGuard } from "@relicario/shared/ui";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";

interface UnsavedGuardProps {
  readonly dirty: boolean;
  /** Whether a save is running, which leaving would cancel. */
  readonly saving: boolean;
  /** Set after saving: the guard is released, then the page navigates to this path. */
  readonly redirect: { readonly path: string } | null;
  readonly onLeave: (path: string) => void;
}

/**
 * Asks before unsaved input is lost. Navigates in an effect, because the guard must be released
 * before that.
 */
export function UnsavedGuard({ dirty, saving, redirect, onLeave }: UnsavedGuardProps) {
  const { t } = useTranslation("beta-add-secret");
  useEffect(() => {
    if (redirect !== null) onLeave(redirect.path);
  }, [redirect, onLeave]);
  return (
    <LeaveGuard
      active={dirty && redirect === null}
      title={t(saving ? "leave.saving_title" : "leave.confirm_title")}
      body={t(saving ? "leave.saving_body" : "leave.confirm_body")}
      leaveLabel={t("leave.confirm_action")}
      stayLabel={t("leave.stay_action")}
    />
  );
}
