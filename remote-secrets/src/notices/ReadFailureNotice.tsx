import { usePortal, type Vault } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { Button, ErrorNotice } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { ReadFailure } from "../data/secrets.ts";

/** The secrets cannot be read. An older state can be believed, but only as a deliberate choice. */
export function ReadFailureNotice({ trouble }: { readonly trouble: ReadFailure | null }) {
  const { t } = useTranslation("beta-home");
  const { confirm } = usePortal();
  const [failure, setFailure] = useState<unknown>(null);
  if (trouble === null) return null;
  const { error, vault, retry } = trouble;
  const accept = async (trusting: Vault) => {
    const sure = await confirm({ title: t("older.confirm_title"), description: t("older.confirm_body"), confirmLabel: t("older.confirm_action"), alert: true });
    if (!sure) return;
    try {
      await trusting.acceptOlderState();
      retry();
    } catch (reason) {
      setFailure(reason);
    }
  };
  return (
    <ErrorNotice error={failure ?? error} onRetry={retry}>
      {vault !== null && isPortalError(error, "older_state") && (
        <Button tone="plain" size="small" onClick={() => void accept(vault)}>
          {t("older.go_on_action")}
        </Button>
      )}
    </ErrorNotice>
  );
}
