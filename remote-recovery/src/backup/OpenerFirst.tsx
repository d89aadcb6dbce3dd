import type { ShownImage, Vault, VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { FieldError } from "@relicario/shared/forms";
import { Button, ErrorNotice, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { Phases } from "../flow/Phases.tsx";
import { PictureField } from "../picture/PictureField.tsx";

interface OpenerFirstProps {
  readonly vault: Vault;
  /** What was refused can be tried again. */
  readonly onShown: () => void;
}

/**
 * Asks for a picture in use: on a device that shows titles without one, a new picture can only
 * follow an old one.
 */
export function OpenerFirst({ vault, onShown }: OpenerFirstProps) {
  const { t } = useTranslation(["processing", "image-recovery"]);
  const [shown, setShown] = useState<ShownImage | null>(null);
  const [missing, setMissing] = useState(false);
  const [failure, setFailure] = useState<PortalError | null>(null);
  const [progress, setProgress] = useState<VaultProgress | null>(null);
  const [running, setRunning] = useState(false);
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);
  useEffect(
    () => () => {
      if (shown !== null) vault.forgetShown(shown);
    },
    [vault, shown],
  );

  const show = async () => {
    setMissing(shown === null);
    if (shown === null) return;
    const controller = new AbortController();
    current.current = controller;
    setFailure(null);
    setRunning(true);
    try {
      await vault.unlock(shown, { signal: controller.signal, onProgress: setProgress });
      if (!controller.signal.aborted) onShown();
    } catch (error) {
      if (!controller.signal.aborted) setFailure(toPortalError(error));
    } finally {
      if (!controller.signal.aborted) setRunning(false);
    }
  };
  return (
    <Stack $gap={4}>
      <SectionTitle>{t("opener.title")}</SectionTitle>
      <p>{t("opener.body")}</p>
      <PictureField purpose="show" value={shown} disabled={running} onChange={setShown} />
      {missing && <FieldError>{t("image-recovery:provide.missing_error")}</FieldError>}
      <ErrorNotice error={failure} />
      {running && <Phases phases={["picture", "passphrase", "fetching", "opening"]} progress={progress} />}
      <SpacedRow>
        <Button pending={running} onClick={() => void show()}>
          {t("opener.show_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}
