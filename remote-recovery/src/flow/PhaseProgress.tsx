import type { VaultProgress } from "@relicario/shared/contract";
import { OperationProgress } from "@relicario/shared/forms";
import { SmallText, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

interface PhaseProgressProps {
  /** In order of execution. */
  readonly phases: readonly VaultProgress["phase"][];
  readonly progress: VaultProgress | null;
}

export function PhaseProgress({ phases, progress }: PhaseProgressProps) {
  const { t } = useTranslation("processing");
  const phaseIndex = progress === null ? -1 : phases.indexOf(progress.phase);
  return (
    <Stack $gap={3}>
      <OperationProgress progress={progress} />
      {phaseIndex >= 0 && (
        <SmallText>{t("page.phase_status", { phase: phaseIndex + 1, total: phases.length })}</SmallText>
      )}
    </Stack>
  );
}
