import { usePortal, type Vault } from "@relicario/shared/contract";
import { Checkbox, FieldError, RequestedOpener, runUnlocked, useVaultOperation } from "@relicario/shared/forms";
import { getFormats } from "@relicario/shared/i18n";
import { Button, ErrorNotice, Loading, s, Skeleton, SmallText, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { countLiveShares } from "../data/live-shares.ts";
import { secretKeys } from "../data/keys.ts";
import { historyQuery } from "../data/secrets.ts";

interface RemoveVersionsPanelProps {
  readonly vault: Vault;
  readonly secretId: string;
  readonly onRemoved?: () => void;
  /** Omitted if there is no view to return to. */
  readonly onClose?: () => void;
}

/**
 * Removes chosen former versions for good, after a confirmation. Also shown in a form whose save
 * failed because there was no room for another version, so that typed text is not lost.
 */
export function RemoveVersionsPanel({ vault, secretId, onRemoved, onClose }: RemoveVersionsPanelProps) {
  const { t } = useTranslation("beta-home");
  const { user, language, confirm, notify } = usePortal();
  const client = useQueryClient();
  const history = useQuery(historyQuery(vault, user.userId, secretId));
  const [selectedVersions, setSelectedVersions] = useState<ReadonlySet<number>>(new Set());
  const [selectionMissing, setSelectionMissing] = useState(false);
  const removeOperation = useVaultOperation({ vault });
  const remove = (versions: readonly number[]) => {
    removeOperation.start({
      run: runUnlocked(vault, (options) => vault.removeVersions(secretId, versions, options)),
      onDone: () => {
        notify({ tone: "success", text: t("remove.done_status", { count: versions.length }) });
        setSelectedVersions(new Set());
        onRemoved?.();
      },
      onSettled: () => void client.invalidateQueries({ queryKey: secretKeys.all(user.userId) }),
    });
  };
  const formerVersions = (history.data ?? []).filter(({ current, dropped }) => !current && !dropped);
  const versionsToRemove = formerVersions
    .map(({ version }) => version)
    .filter((version) => selectedVersions.has(version));
  const formats = getFormats(language);

  const handleSelect = (version: number, isSelected: boolean) => {
    setSelectionMissing(false);
    setSelectedVersions(
      (previous) => new Set(isSelected ? [...previous, version] : [...previous].filter((other) => other !== version)),
    );
  };
  const handleRemove = async () => {
    setSelectionMissing(versionsToRemove.length === 0);
    if (versionsToRemove.length === 0) return;
    const count = versionsToRemove.length;
    const shareCount = await countLiveShares(
      vault,
      (share) => share.secretId === secretId && versionsToRemove.includes(share.version),
    );
    const body = t("remove.confirm_body");
    const confirmed = await confirm({
      title: t("remove.confirm_title", { count }),
      description: shareCount === 0 ? body : `${body} ${t("remove.shares_body", { count: shareCount })}`,
      confirmLabel: t("remove.confirm_action", { count }),
      cancelLabel: t("remove.keep_action"),
      alert: true,
      danger: true,
    });
    if (confirmed) remove(versionsToRemove);
  };

  return (
    <Stack $gap={4} role="group" aria-label={t("remove.title")}>
      <SmallText>{t("remove.lead_body")}</SmallText>
      {history.isError && <ErrorNotice error={history.error} onRetry={() => void history.refetch()} />}
      {history.isPending && (
        <Loading label={t("history.loading_status")}>
          <Skeleton height="92px" />
        </Loading>
      )}
      {history.isSuccess && formerVersions.length === 0 && <SmallText>{t("remove.none_body")}</SmallText>}
      {formerVersions.length > 0 && (
        <Choices tabIndex={0} role="group" aria-label={t("remove.choices_aria")}>
          {formerVersions.map(({ version, createdAt, sealedSize }) => (
            <Checkbox
              key={version}
              label={t("remove.choice_label", {
                version,
                when: formats.dateTime(createdAt),
                size: formats.size(sealedSize),
              })}
              checked={selectedVersions.has(version)}
              disabled={removeOperation.running}
              onChange={(event) => {
                handleSelect(version, event.target.checked);
              }}
            />
          ))}
        </Choices>
      )}
      {selectionMissing && <FieldError>{t("remove.missing_error")}</FieldError>}
      <RequestedOpener vault={vault} operation={removeOperation} />
      <SpacedRow>
        {formerVersions.length > 0 && (
          <Button tone="danger" size="small" pending={removeOperation.running} onClick={() => void handleRemove()}>
            {t("remove.chosen_action")}
          </Button>
        )}
        {onClose !== undefined && (
          <Button tone="quiet" size="small" onClick={onClose}>
            {t("history.cancel_action")}
          </Button>
        )}
      </SpacedRow>
    </Stack>
  );
}

const Choices = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
  max-height: 40vh;
  overflow: auto;
  padding: ${space(3)} ${space(4)};
  border-radius: ${s("radiusSmall")};
  background: ${s("surfaceSunken")};
`;
