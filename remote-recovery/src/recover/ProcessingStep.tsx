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
import { destinationOf, type Purpose } from "./purpose.ts";
import { useOpeningOperation } from "./useOpeningOperation.ts";

interface ProcessingStepProps {
  readonly access: VaultAccess;
  readonly purpose: Purpose;
  readonly openerHandle: OpenerHandle;
  readonly onFailed: (failure: PortalError) => void;
  readonly onCancel: () => void;
}

/** In the order in which they come; some are passed over. */
const phases: readonly VaultProgress["phase"][] = ["picture", "passphrase", "fetching", "opening"];

/**
 * Route `/processing-recovery`: tries the picture, says what is being tried, and goes on to what it
 * opened. Leaving cancels.
 */
export function ProcessingStep({ access, purpose, openerHandle, onFailed, onCancel }: ProcessingStepProps) {
  const { t } = useTranslation(["image-recovery", "processing"]);
  const { navigate } = usePortal();
  const vault = access.status === "ready" ? access.vault : null;
  const state = useVaultState(access);
  const openingState = useOpeningOperation(vault, purpose, openerHandle);
  const needsDeviceAnswer = openingState.status === "done" && state.status === "unlocked" && state.device === null;

  const destination = destinationOf(purpose);
  const finished = openingState.status === "done" && !needsDeviceAnswer;
  useEffect(() => {
    if (finished) navigate(destination, { replace: true });
  }, [finished, navigate, destination]);
  const failure = openingState.status === "failed" ? openingState.error : null;
  const handleFailure = useEffectEvent(onFailed);
  useEffect(() => {
    if (failure !== null) handleFailure(failure);
  }, [failure]);

  return (
    <Page
      title={t(`image-recovery:provide.${purpose.kind}_title`)}
      lead={openingState.status === "running" ? t("image-recovery:processing.body") : undefined}
    >
      {purpose.kind !== "unlock" && (
        <FlowSteps flow="recovery" step={openingState.status === "done" ? "congrats" : "processing"} />
      )}
      {access.status === "failed" ? (
        <ErrorNotice error={access.error} onRetry={access.retry} />
      ) : openingState.status === "running" ? (
        <Card>
          <Stack $gap={5}>
            <PhaseProgress phases={phases} progress={openingState.progress} />
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
