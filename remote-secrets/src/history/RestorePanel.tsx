import { usePortal, type OpenerHandle, type Vault, type VaultProgress } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { FieldError } from "@relicario/shared/forms";
import { Button, ErrorNotice, Progress, SmallText, SpacedRow, Stack, useOpenerHandle } from "@relicario/shared/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
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
 * Saves an older version as the newest one. Its content has to be decrypted for that, so it asks
 * for a picture.
 */
export function RestorePanel({ vault, secretId, version, onClose }: RestorePanelProps) {
  const { t } = useTranslation("beta-home");
  const { user, notify } = usePortal();
  const client = useQueryClient();
  const { openerHandle, setOpenerHandle } = useOpenerHandle(vault);
  const [pictureMissing, setPictureMissing] = useState(false);
  const [progress, setProgress] = useState<VaultProgress | null>(null);
  const abortController = useRef<AbortController | null>(null);
  useEffect(() => () => abortController.current?.abort(), []);
  const restore = useMutation({
    mutationFn: (handle: OpenerHandle) => {
      const controller = new AbortController();
      abortController.current = controller;
      setProgress(null);
      return vault.restoreVersion(secretId, version, handle, { signal: controller.signal, onProgress: setProgress });
    },
    onSuccess: () => {
      notify({ tone: "success", text: t("history.restored_status", { version }) });
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: secretKeys.all(user.userId) }),
  });
  return (
    <Stack $gap={4} role="group" aria-label={t("history.restore_aria", { version })}>
      <SmallText>{t("history.restore_body")}</SmallText>
      <vault.PictureField
        purpose="show"
        value={openerHandle}
        disabled={restore.isPending}
        onChange={(value) => {
          setOpenerHandle(value);
          setPictureMissing(false);
        }}
      />
      {pictureMissing && <FieldError>{t("history.missing_error")}</FieldError>}
      <ErrorNotice error={restore.error} />
      {isPortalError(restore.error, "too_many_versions") && (
        <RemoveVersionsPanel vault={vault} secretId={secretId} onRemoved={restore.reset} />
      )}
      {restore.isPending && (
        <Progress label={t("history.restoring_status")} done={progress?.done ?? 0} total={progress?.total ?? 0} />
      )}
      <SpacedRow>
        <Button
          pending={restore.isPending}
          onClick={() => {
            setPictureMissing(openerHandle === null);
            if (openerHandle !== null) restore.mutate(openerHandle);
          }}
        >
          {t("history.restore_action")}
        </Button>
        <Button
          tone="quiet"
          onClick={() => {
            if (restore.isPending) abortController.current?.abort();
            else onClose();
          }}
        >
          {t("history.cancel_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}
