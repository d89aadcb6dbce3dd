import type { VaultProgress } from "@relicario/shared/contract";
import { Progress, SmallText, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

interface PhaseProgressProps {
  /** The phases in the order in which they come. */
  readonly phases: readonly VaultProgress["phase"][];
  readonly progress: VaultProgress | null;
}

/** What is being done, phase by phase and in numbers. */
export function PhaseProgress({ phases, progress }: PhaseProgressProps) {
  const { t } = useTranslation("processing");
  const phaseIndex = progress === null ? 0 : phases.indexOf(progress.phase);
  const labelKey =
    progress?.step === undefined
      ? (`phase.${progress?.phase ?? "picture"}_status` as const)
      : (`step.${progress.step}_status` as const);
  return (
    <Stack $gap={3}>
      <Progress label={t(labelKey)} done={progress?.done ?? 0} total={progress?.total ?? 0} />
      {phaseIndex >= 0 && (
        <SmallText>{t("page.phase_status", { phase: phaseIndex + 1, total: phases.length })}</SmallText>
      )}
    </Stack>
  );
}
