import type { VaultProgress, Vault } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { FieldError } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  Progress,
  SectionTitle,
  SpacedRow,
  Stack,
  useOpenerHandle,
} from "@relicario/shared/ui";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import styled from "styled-components";

interface OpenerPromptProps {
  readonly vault: Vault;
  /** What was refused can be tried again. */
  readonly onUnlocked: () => void;
}

/**
 * Asks for a picture in use, after a save was refused with `show_opener_first`: on a device that
 * shows titles without one, a new picture can only follow an old one.
 */
export function OpenerPrompt({ vault, onUnlocked }: OpenerPromptProps) {
  const { t } = useTranslation("beta-add-secret");
  const { openerHandle, setOpenerHandle } = useOpenerHandle(vault);
  const [pictureMissing, setPictureMissing] = useState(false);
  const [failure, setFailure] = useState<PortalError | null>(null);
  const [progress, setProgress] = useState<VaultProgress | "starting" | null>(null);
  const abortController = useRef<AbortController | null>(null);
  const titleRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    titleRef.current?.focus(); // it came below what was typed, perhaps out of sight
    return () => abortController.current?.abort();
  }, []);
  const handleUnlock = async () => {
    setPictureMissing(openerHandle === null);
    if (openerHandle === null) return;
    const controller = new AbortController();
    abortController.current = controller;
    setFailure(null);
    setProgress("starting");
    try {
      await vault.unlock(openerHandle, { signal: controller.signal, onProgress: setProgress });
      if (!controller.signal.aborted) onUnlocked();
    } catch (error) {
      if (!controller.signal.aborted) setFailure(toPortalError(error));
    } finally {
      if (!controller.signal.aborted) setProgress(null);
    }
  };
  const busy = progress !== null;
  return (
    <Card aria-labelledby="opener-first">
      <Stack $gap={4}>
        <Title id="opener-first" ref={titleRef} tabIndex={-1}>
          {t("opener_first.title")}
        </Title>
        <p>{t("opener_first.body")}</p>
        <vault.PictureField purpose="show" value={openerHandle} disabled={busy} onChange={setOpenerHandle} />
        {pictureMissing && <FieldError>{t("open.missing_error")}</FieldError>}
        <ErrorNotice error={failure} />
        {progress !== null && progress !== "starting" && (
          <Progress label={t(`progress.${progress.phase}_status`)} done={progress.done} total={progress.total} />
        )}
        <SpacedRow>
          <Button pending={busy} onClick={() => void handleUnlock()}>
            {t("opener_first.action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}

/** Its focus brings what stands below it into sight, too. */
const Title = styled(SectionTitle)`
  scroll-margin-block: 40vh;
`;
