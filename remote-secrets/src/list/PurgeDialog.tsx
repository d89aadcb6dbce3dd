import { usePortal, type SecretRow, type Vault } from "@relicario/shared/contract";
import { RequestedOpener, type VaultOperation } from "@relicario/shared/forms";
import { getFormats } from "@relicario/shared/i18n";
import { Button, Dialog, s, space } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { liveSharesQuery } from "../data/secrets.ts";

interface PurgeDialogProps {
  /** Null while the dialog is closed. */
  readonly rows: readonly SecretRow[] | null;
  readonly vault: Vault;
  readonly operation: VaultOperation;
  readonly onClose: () => void;
  readonly onConfirm: (rows: readonly SecretRow[]) => void;
}

export function PurgeDialog({ rows, vault, operation, onClose, onConfirm }: PurgeDialogProps) {
  const { t } = useTranslation("beta-home");
  const { language, user } = usePortal();
  const { data: liveShares = [] } = useQuery(liveSharesQuery(vault, user.userId, vault.getState().status));
  const shareCount = liveShares.filter(({ secretId }) => rows?.some((row) => row.secretId === secretId)).length;
  const count = rows?.length ?? 0;
  const { running: pending, asksOpener } = operation;
  return (
    <Dialog
      open={rows !== null}
      onClose={onClose}
      mustAnswer={pending}
      role="alertdialog"
      title={t("purge.confirm_title", { count })}
      description={
        shareCount === 0
          ? t("purge.confirm_body")
          : `${t("purge.confirm_body")} ${t("purge.shares_body", { count: shareCount })}`
      }
      icon={<AlertIcon aria-hidden />}
      footer={
        asksOpener ? null : (
          <>
            <Button
              tone="danger"
              pending={pending}
              onClick={() => {
                if (rows !== null) onConfirm(rows);
              }}
            >
              {t("purge.confirm_action", { count })}
            </Button>
            <Button tone="quiet" disabled={pending} data-autofocus onClick={onClose}>
              {t("purge.keep_action")}
            </Button>
          </>
        )
      }
    >
      <Titles tabIndex={0} aria-label={t("purge.titles_aria")}>
        {(rows ?? []).map(({ secretId, label, updatedAt }) => (
          <li key={secretId}>
            {label === null
              ? t("row.locked_title", { day: getFormats(language).date(updatedAt) })
              : label.title === ""
                ? t("row.untitled_title")
                : label.title}
          </li>
        ))}
      </Titles>
      <RequestedOpener vault={vault} operation={operation} label={t("purge.confirm_action", { count })} />
    </Dialog>
  );
}

const AlertIcon = styled(TriangleAlert)`
  color: ${s("dangerText")};
`;

const Titles = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(1)};
  max-height: 40vh;
  overflow: auto;
  padding: ${space(3)} ${space(4)};
  border-radius: ${s("radiusSmall")};
  background: ${s("surfaceSunken")};
  & > li {
    overflow-wrap: anywhere;
    font-weight: 550;
  }
`;
