import { usePortal, type Vault } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { Button, ErrorNotice } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

interface SecretsTroubleProps {
  readonly error: unknown;
  readonly vault: Vault | null;
  readonly onRetry: () => void;
}

/** The secrets cannot be read. An older state can be believed, but only as a deliberate choice. */
export function SecretsTrouble({ error, vault, onRetry }: SecretsTroubleProps) {
  const { t } = useTranslation("beta-home");
  const { confirm } = usePortal();
  const [failure, setFailure] = useState<unknown>(null);
  const accept = async (trusting: Vault) => {
    const sure = await confirm({ title: t("older.confirm_title"), description: t("older.confirm_body"), confirmLabel: t("older.confirm_action"), alert: true });
    if (!sure) return;
    try {
      await trusting.acceptOlderState();
      onRetry();
    } catch (reason) {
      setFailure(reason);
    }
  };
  return (
    <ErrorNotice error={failure ?? error} onRetry={onRetry}>
      {vault !== null && isPortalError(error, "older_state") && (
        <Button tone="plain" size="small" onClick={() => void accept(vault)}>
          {t("older.go_on_action")}
        </Button>
      )}
    </ErrorNotice>
  );
}
