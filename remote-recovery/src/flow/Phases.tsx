import type { VaultProgress } from "@relicario/shared/contract";
import { Progress, SmallText, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

interface PhasesProps {
  /** The phases in the order in which they come. */
  readonly phases: readonly VaultProgress["phase"][];
  readonly progress: VaultProgress | null;
}

/** What is being done, phase by phase and in numbers. */
export function Phases({ phases, progress }: PhasesProps) {
  const { t } = useTranslation("processing");
  const at = progress === null ? 0 : phases.indexOf(progress.phase);
  const words =
    progress?.step === undefined
      ? (`phase.${progress?.phase ?? "picture"}_status` as const)
      : (`step.${progress.step}_status` as const);
  return (
    <Stack $gap={3}>
      <Progress label={t(words)} done={progress?.done ?? 0} total={progress?.total ?? 0} />
      {at >= 0 && <SmallText>{t("page.phase_status", { phase: at + 1, total: phases.length })}</SmallText>}
    </Stack>
  );
}
