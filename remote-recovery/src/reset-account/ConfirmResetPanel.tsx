import type { OpenerHandle, Vault, VaultProgress } from "@relicario/shared/contract";
import { OperationProgress, FieldError, maxImageNameLength, TextField } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  Muted,
  SectionTitle,
  SpacedRow,
  Stack,
  useOpenerHandle,
} from "@relicario/shared/ui";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { useOperation } from "./useOperation.ts";

/**
 * The wait is over: a new picture, a fresh sign-in, and an empty account. Leaving the screen before
 * it is sent stops it.
 */
export function ConfirmResetPanel({ vault, onReset }: { readonly vault: Vault; readonly onReset: () => void }) {
  const { t } = useTranslation("start-anew");
  const { openerHandle, setOpenerHandle } = useOpenerHandle(vault);
  const [name, setName] = useState(() => t("begin.name_body"));
  const [incomplete, setIncomplete] = useState(false);
  const [progress, setProgress] = useState<VaultProgress | null>(null);
  const { busy, error, run } = useOperation(onReset);
  const activeController = useRef<AbortController | null>(null);
  useEffect(() => () => activeController.current?.abort(), []);
  const resetAccount = (pictureHandle: OpenerHandle) => {
    const controller = new AbortController();
    activeController.current = controller;
    setProgress(null);
    return vault.accountReset.complete(
      { handle: pictureHandle, name: name.trim() },
      { signal: controller.signal, onProgress: setProgress },
    );
  };
  return (
    <Card aria-labelledby="start-anew-begin">
      <Stack $gap={4}>
        <SectionTitle id="start-anew-begin">{t("begin.title")}</SectionTitle>
        <Muted>{t("begin.body")}</Muted>
        <vault.PictureField
          purpose="choose"
          value={openerHandle}
          disabled={busy}
          onChange={(nextHandle) => {
            setOpenerHandle(nextHandle);
            setIncomplete(false);
          }}
        />
        <TextField
          label={t("begin.name_label")}
          maxLength={maxImageNameLength}
          autoComplete="off"
          value={name}
          disabled={busy}
          onChange={(event) => {
            setName(event.target.value);
          }}
        />
        {incomplete && <FieldError>{t("begin.missing_error")}</FieldError>}
        <ErrorNotice error={error} />
        {busy && <OperationProgress progress={progress} initialPhase="fetching" />}
        <SpacedRow>
          <Button
            tone="danger"
            pending={busy}
            onClick={() => {
              const complete = openerHandle !== null && name.trim() !== "";
              setIncomplete(!complete);
              if (complete) void run(() => resetAccount(openerHandle));
            }}
          >
            {t("begin.begin_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}
