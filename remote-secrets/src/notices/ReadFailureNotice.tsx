import { usePortal } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { Button, ErrorNotice } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { ReadFailure } from "../data/secrets.ts";

/**
 * Shows a failed read with a retry. After a confirmation, the person can accept an `older_state`,
 * or archive an unreadable device record.
 */
export function ReadFailureNotice({ failure }: { readonly failure: ReadFailure | null }) {
  const { t } = useTranslation("beta-home");
  const { confirm } = usePortal();
  const [choiceError, setChoiceError] = useState<unknown>(null);
  if (failure === null) return null;
  const { error, vault, retry } = failure;
  const confirmAndRun = async (question: "older" | "unreadable", action: () => Promise<void>) => {
    const confirmed = await confirm({
      title: t(`${question}.confirm_title`),
      description: t(`${question}.confirm_body`),
      confirmLabel: t(`${question}.confirm_action`),
      alert: true,
    });
    if (!confirmed) return;
    setChoiceError(null);
    try {
      await action();
      retry();
    } catch (reason) {
      setChoiceError(reason);
    }
  };
  const handleRetry = () => {
    setChoiceError(null);
    retry();
  };
  const displayedError = choiceError ?? error;
  return (
    <ErrorNotice error={displayedError} onRetry={handleRetry}>
      {vault !== null && isPortalError(displayedError, "older_state") && (
        <Button
          tone="plain"
          size="small"
          onClick={() => void confirmAndRun("older", () => vault.acceptOlderState(displayedError))}
        >
          {t("older.go_on_action")}
        </Button>
      )}
      {vault !== null && isPortalError(displayedError, "device_record_unreadable") && (
        <Button tone="plain" size="small" onClick={() => void confirmAndRun("unreadable", vault.archiveDeviceRecord)}>
          {t("unreadable.go_on_action")}
        </Button>
      )}
    </ErrorNotice>
  );
}
