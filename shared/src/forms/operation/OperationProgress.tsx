import { useTranslation } from "react-i18next";

import type { VaultProgress } from "../../contract/index.ts";
import { Progress } from "../../ui/waiting.tsx";

/** Texts of phases that a screen replaces. */
export type PhaseTexts = Partial<Record<VaultProgress["phase"] | "starting", string>>;

export interface OperationProgressProps {
  /** Null before the first report. */
  readonly progress: VaultProgress | null;
  /** Phase that is shown before the first report, where it is known. */
  readonly initialPhase?: VaultProgress["phase"] | undefined;
  readonly phaseTexts?: PhaseTexts;
}

/** Shows the progress of a long operation of the vault or a visitor. */
export function OperationProgress({ progress, initialPhase, phaseTexts = {} }: OperationProgressProps) {
  const { t } = useTranslation("common");
  const phase = progress?.phase ?? initialPhase ?? "starting";
  const generalText = progress?.step === undefined ? t(`phase.${phase}_status`) : t(`step.${progress.step}_status`);
  return <Progress label={phaseTexts[phase] ?? generalText} done={progress?.done ?? 0} total={progress?.total ?? 0} />;
}
