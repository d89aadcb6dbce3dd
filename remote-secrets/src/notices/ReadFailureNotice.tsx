import { usePortal, type Vault } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { Button, ErrorNotice } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { ReadFailure } from "../data/secrets.ts";

/** Shows why reading failed, with a retry. For `older_state` it also offers to accept that state, after a confirmation. */
export function ReadFailureNotice({ failure }: { readonly failure: ReadFailure | null }) {
  const { t } = useTranslation("beta-home");
  const { confirm } = usePortal();
  const [acceptError, setAcceptError] = useState<unknown>(null);
  if (failure === null) return null;
  const { error, vault, retry } = failure;
  const acceptOlderState = async (readyVault: Vault) => {
    const sure = await confirm({ title: t("older.confirm_title"), description: t("older.confirm_body"), confirmLabel: t("older.confirm_action"), alert: true });
    if (!sure) return;
    try {
      await readyVault.acceptOlderState();
      retry();
    } catch (reason) {
      setAcceptError(reason);
    }
  };
  return (
    <ErrorNotice error={acceptError ?? error} onRetry={retry}>
      {vault !== null && isPortalError(error, "older_state") && (
        <Button tone="plain" size="small" onClick={() => void acceptOlderState(vault)}>
          {t("older.go_on_action")}
        </Button>
      )}
    </ErrorNotice>
  );
}
