import type { OpenerHandle, Vault, VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { FieldError } from "@relicario/shared/forms";
import { Button, ErrorNotice, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { PhaseProgress } from "../flow/PhaseProgress.tsx";
import { PictureField } from "../picture/PictureField.tsx";

interface OpenerPromptProps {
  readonly vault: Vault;
  /** What was refused can be tried again. */
  readonly onUnlocked: () => void;
}

/**
 * Asks for a picture in use: on a device that shows titles without one, a new picture can only
 * follow an old one.
 */
export function OpenerPrompt({ vault, onUnlocked }: OpenerPromptProps) {
  const { t } = useTranslation(["processing", "image-recovery"]);
  const [openerHandle, setOpenerHandle] = useState<OpenerHandle | null>(null);
  const [openerMissing, setOpenerMissing] = useState(false);
  const [failure, setFailure] = useState<PortalError | null>(null);
  const [progress, setProgress] = useState<VaultProgress | null>(null);
  const [unlocking, setUnlocking] = useState(false);
  const activeController = useRef<AbortController | null>(null);
  useEffect(() => () => activeController.current?.abort(), []);
  useEffect(
    () => () => {
      if (openerHandle !== null) vault.releaseOpener(openerHandle);
    },
    [vault, openerHandle],
  );

  const unlock = async () => {
    setOpenerMissing(openerHandle === null);
    if (openerHandle === null) return;
    const controller = new AbortController();
    activeController.current = controller;
    setFailure(null);
    setUnlocking(true);
    try {
      await vault.unlock(openerHandle, { signal: controller.signal, onProgress: setProgress });
      if (!controller.signal.aborted) onUnlocked();
    } catch (error) {
      if (!controller.signal.aborted) setFailure(toPortalError(error));
    } finally {
      if (!controller.signal.aborted) setUnlocking(false);
    }
  };
  return (
    <Stack $gap={4}>
      <SectionTitle>{t("opener.title")}</SectionTitle>
      <p>{t("opener.body")}</p>
      <PictureField purpose="show" value={openerHandle} disabled={unlocking} onChange={setOpenerHandle} />
      {openerMissing && <FieldError>{t("image-recovery:provide.missing_error")}</FieldError>}
      <ErrorNotice error={failure} />
      {unlocking && <PhaseProgress phases={["picture", "passphrase", "fetching", "opening"]} progress={progress} />}
      <SpacedRow>
        <Button pending={unlocking} onClick={() => void unlock()}>
          {t("opener.show_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}
