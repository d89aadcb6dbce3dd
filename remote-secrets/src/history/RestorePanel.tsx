import { usePortal, type Vault } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { OpenerPrompt, useVaultOperation } from "@relicario/shared/forms";
import { ErrorNotice, SmallText, Stack } from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { secretKeys } from "../data/keys.ts";
import { RemoveVersionsPanel } from "./RemoveVersionsPanel.tsx";

interface RestorePanelProps {
  readonly vault: Vault;
  readonly secretId: string;
  readonly version: number;
  readonly onClose: () => void;
}

/**
 * Saves an older version as the newest one. Needs an opener, because the content is opened and
 * re-sealed.
 */
export function RestorePanel({ vault, secretId, version, onClose }: RestorePanelProps) {
  const { t } = useTranslation("beta-home");
  const { user, notify } = usePortal();
  const client = useQueryClient();
  const operation = useVaultOperation({ vault, asksOpener: true, keepOpen: vault.keepOpen });
  const handleSubmit = () => {
    operation.start({
      run: (options, opener) => vault.restoreVersion(secretId, version, opener, options),
      onDone: () => {
        notify({ tone: "success", text: t("history.restored_status", { version }) });
        onClose();
      },
      onSettled: () => void client.invalidateQueries({ queryKey: secretKeys.all(user.userId) }),
    });
  };
  const tooManyVersions = isPortalError(operation.error, "too_many_versions");
  return (
    <Stack $gap={4} role="group" aria-label={t("history.restore_aria", { version })}>
      <SmallText>{t("history.restore_body")}</SmallText>
      <OpenerPrompt
        vault={vault}
        operation={operation}
        label={t("history.restore_action")}
        failure={
          tooManyVersions ? (
            <>
              <ErrorNotice error={operation.error} />
              <RemoveVersionsPanel vault={vault} secretId={secretId} onRemoved={operation.cancel} />
            </>
          ) : undefined
        }
        onSubmit={handleSubmit}
        onClose={onClose}
      />
    </Stack>
  );
}
