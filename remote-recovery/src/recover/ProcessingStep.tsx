import { usePortal, type OpenerHandle, type VaultProgress } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { DeviceQuestion } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  Page,
  Skeleton,
  SpacedRow,
  Stack,
  useVaultState,
  type VaultAccess,
} from "@relicario/shared/ui";
import { useEffect, useEffectEvent } from "react";
import { useTranslation } from "react-i18next";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { PhaseProgress } from "../flow/PhaseProgress.tsx";
import { getDestination, type Purpose } from "./purpose.ts";
import { usePurposeOperation } from "./usePurposeOperation.ts";

interface ProcessingStepProps {
  readonly access: VaultAccess;
  readonly purpose: Purpose;
  /** Null for the opener that is kept open. */
  readonly openerHandle: OpenerHandle | null;
  readonly onFailed: (failure: PortalError) => void;
  readonly onCancel: () => void;
}

/** In order of execution; some may be skipped. */
const phases: readonly VaultProgress["phase"][] = ["picture", "passphrase", "fetching", "opening"];

/**
 * Route `/processing-recovery`: tries the opener, shows progress, then continues to what was
 * opened. Leaving cancels.
 */
export function ProcessingStep({ access, purpose, openerHandle, onFailed, onCancel }: ProcessingStepProps) {
  const { t } = useTranslation(["image-recovery", "processing"]);
  const { navigate } = usePortal();
  const vault = access.status === "ready" ? access.vault : null;
  const state = useVaultState(access);
  const { progress, error, isDone } = usePurposeOperation(vault, purpose, openerHandle);
  const isRunning = !isDone && error === null;
  const needsDeviceAnswer = isDone && state.status === "unlocked" && state.device === null;

  const destination = getDestination(purpose);
  const finished = isDone && !needsDeviceAnswer;
  useEffect(() => {
    if (finished) navigate(destination, { replace: true });
  }, [finished, navigate, destination]);
  const handleFailure = useEffectEvent(onFailed);
  useEffect(() => {
    if (error !== null) handleFailure(error);
  }, [error]);

  return (
    <Page
      title={t(`image-recovery:provide.${purpose.kind}_title`)}
      lead={isRunning ? t("image-recovery:processing.body") : undefined}
    >
      {purpose.kind === "recover" && <FlowSteps flow="recovery" step={isDone ? "congrats" : "processing"} />}
      {access.status === "failed" ? (
        <ErrorNotice error={access.error} onRetry={access.retry} />
      ) : isRunning ? (
        <Card>
          <Stack $gap={5}>
            <PhaseProgress phases={phases} progress={progress} />
            <SpacedRow>
              <Button tone="quiet" size="large" onClick={onCancel}>
                {t("processing:page.cancel_action")}
              </Button>
            </SpacedRow>
          </Stack>
        </Card>
      ) : needsDeviceAnswer && vault !== null ? (
        <DeviceQuestion vault={vault} />
      ) : (
        <Skeleton height="240px" />
      )}
    </Page>
  );
}
