import type { VaultProgress } from "@relicario/shared/contract";
import { Progress } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

interface OpeningProgressProps {
  readonly progress: VaultProgress | null;
}

/** What is being tried, phase by phase. */
export function OpeningProgress({ progress }: OpeningProgressProps) {
  const { t } = useTranslation("processing");
  const words = progress?.step === undefined ? (`phase.${progress?.phase ?? "picture"}_status` as const) : (`step.${progress.step}_status` as const);
  return <Progress label={t(words)} done={progress?.done ?? 0} total={progress?.total ?? 0} />;
}
