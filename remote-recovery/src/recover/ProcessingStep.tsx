import { usePortal, type ShownImage, type VaultProgress } from "@relicario/shared/contract";
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
import { Phases } from "../flow/Phases.tsx";
import { targetOf, type Purpose } from "./purpose.ts";
import { useOpening } from "./useOpening.ts";

interface ProcessingStepProps {
  readonly access: VaultAccess;
  readonly purpose: Purpose;
  readonly image: ShownImage;
  readonly onFailed: (failure: PortalError) => void;
  readonly onCancel: () => void;
}

/** In the order in which they come; some are passed over. */
const phases: readonly VaultProgress["phase"][] = ["picture", "passphrase", "fetching", "opening"];

/**
 * Route `/processing-recovery`: tries the picture, says what is being tried, and goes on to what it
 * opened. Leaving cancels.
 */
export function ProcessingStep({ access, purpose, image, onFailed, onCancel }: ProcessingStepProps) {
  const { t } = useTranslation(["image-recovery", "processing"]);
  const { navigate } = usePortal();
  const vault = access.status === "ready" ? access.vault : null;
  const state = useVaultState(access);
  const opening = useOpening(vault, purpose, image);
  const asks = opening.status === "done" && state.status === "unlocked" && state.device === null;

  const target = targetOf(purpose);
  const finished = opening.status === "done" && !asks;
  useEffect(() => {
    if (finished) navigate(target, { replace: true });
  }, [finished, navigate, target]);
  const failure = opening.status === "failed" ? opening.error : null;
  const handleFailure = useEffectEvent(onFailed);
  useEffect(() => {
    if (failure !== null) handleFailure(failure);
  }, [failure]);

  return (
    <Page
      title={t(`image-recovery:provide.${purpose.kind}_title`)}
      lead={opening.status === "running" ? t("image-recovery:processing.body") : undefined}
    >
      {purpose.kind !== "unlock" && (
        <FlowSteps flow="recovery" step={opening.status === "done" ? "congrats" : "processing"} />
      )}
      {access.status === "failed" ? (
        <ErrorNotice error={access.error} onRetry={access.retry} />
      ) : opening.status === "running" ? (
        <Card>
          <Stack $gap={5}>
            <Phases phases={phases} progress={opening.progress} />
            <SpacedRow>
              <Button tone="quiet" size="large" onClick={onCancel}>
                {t("processing:page.cancel_action")}
              </Button>
            </SpacedRow>
          </Stack>
        </Card>
      ) : asks && vault !== null ? (
        <DeviceQuestion vault={vault} />
      ) : (
        <Skeleton height="240px" />
      )}
    </Page>
  );
}
