import { trashRetentionDays } from "@relicario/shared/api";
import { usePortal, type SecretRow, type Vault } from "@relicario/shared/contract";
import { RequestedOpener, runUnlocked, useVaultOperation } from "@relicario/shared/forms";
import { Button, Notice, Stack } from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { secretKeys } from "../data/keys.ts";

interface TrashConfirmationProps {
  readonly vault: Vault;
  /** In the trash. */
  readonly rows: readonly SecretRow[];
}

/**
 * Asks about secrets that were trashed without an opener. They stay until the person confirms with
 * one.
 */
export function TrashConfirmation({ vault, rows }: TrashConfirmationProps) {
  const { t } = useTranslation("beta-home");
  const { user } = usePortal();
  const client = useQueryClient();
  const operation = useVaultOperation({ vault });
  const unconfirmedIds = rows
    .filter(({ trashConfirmedAt, droppedAt }) => trashConfirmedAt === null && droppedAt === null)
    .map(({ secretId }) => secretId);
  if (unconfirmedIds.length === 0) return null;
  const handleConfirm = () => {
    operation.start({
      run: runUnlocked(vault, (options) => vault.confirmTrash(unconfirmedIds, options)),
      onSettled: () => void client.invalidateQueries({ queryKey: secretKeys.all(user.userId) }),
    });
  };
  return (
    <Stack $gap={3}>
      <Notice
        role="status"
        title={t("trash.unconfirmed_title", { count: unconfirmedIds.length })}
        actions={
          <Button tone="quiet" size="small" pending={operation.running} onClick={handleConfirm}>
            {t("trash.delete_later_action", { days: trashRetentionDays })}
          </Button>
        }
      >
        {t("trash.unconfirmed_body")}
      </Notice>
      <RequestedOpener vault={vault} operation={operation} />
    </Stack>
  );
}
