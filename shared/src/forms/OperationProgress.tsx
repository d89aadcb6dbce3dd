import { useTranslation } from "react-i18next";

import type { VaultProgress } from "../contract/index.ts";
import { Progress } from "../ui/waiting.tsx";

export interface OperationProgressProps {
  /** Null while nothing was told yet. */
  readonly progress: VaultProgress | null;
  /** What is going on until then. */
  readonly initialPhase: VaultProgress["phase"];
}

/** Where a long act of the vault or of a visitor stands, in words. */
export function OperationProgress({ progress, initialPhase }: OperationProgressProps) {
  const { t } = useTranslation("common");
  const labelKey =
    progress?.step === undefined ? `phase.${progress?.phase ?? initialPhase}_status` : `step.${progress.step}_status`;
  return <Progress label={t(labelKey)} done={progress?.done ?? 0} total={progress?.total ?? 0} />;
}
