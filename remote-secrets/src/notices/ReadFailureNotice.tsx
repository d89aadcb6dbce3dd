import { usePortal } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { Button, ErrorNotice } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { ReadFailure } from "../data/secrets.ts";

/**
 * Shows why reading failed, with a retry. For `older_state` it also offers to accept that state,
 * for a record of this device that cannot be read to set it aside, both after a confirmation.
 */
export function ReadFailureNotice({ failure }: { readonly failure: ReadFailure | null }) {
  const { t } = useTranslation("beta-home");
  const { confirm } = usePortal();
  const [choiceError, setChoiceError] = useState<unknown>(null);
  if (failure === null) return null;
  const { error, vault, retry } = failure;
  const choose = async (question: "older" | "unreadable", act: () => Promise<void>) => {
    const sure = await confirm({
      title: t(`${question}.confirm_title`),
      description: t(`${question}.confirm_body`),
      confirmLabel: t(`${question}.confirm_action`),
      alert: true,
    });
    if (!sure) return;
    setChoiceError(null);
    try {
      await act();
      retry();
    } catch (reason) {
      setChoiceError(reason);
    }
  };
  const retryAnew = () => {
    setChoiceError(null);
    retry();
  };
  const shown = choiceError ?? error;
  return (
    <ErrorNotice error={shown} onRetry={retryAnew}>
      {vault !== null && isPortalError(shown, "older_state") && (
        <Button tone="plain" size="small" onClick={() => void choose("older", () => vault.acceptOlderState(shown))}>
          {t("older.go_on_action")}
        </Button>
      )}
      {vault !== null && isPortalError(shown, "device_record_unreadable") && (
        <Button tone="plain" size="small" onClick={() => void choose("unreadable", vault.setDeviceAside)}>
          {t("unreadable.go_on_action")}
        </Button>
      )}
    </ErrorNotice>
  );
}
