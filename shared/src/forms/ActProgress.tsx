import { useTranslation } from "react-i18next";

import type { VaultProgress } from "../contract/index.ts";
import { Progress } from "../ui/waiting.tsx";

export interface ActProgressProps {
  /** Null while nothing was told yet. */
  readonly progress: VaultProgress | null;
  /** What is going on until then. */
  readonly first: VaultProgress["phase"];
}

/** Where a long act of the vault or of a visitor stands, in words. */
export function ActProgress({ progress, first }: ActProgressProps) {
  const { t } = useTranslation("common");
  const words =
    progress?.step === undefined ? `phase.${progress?.phase ?? first}_status` : `step.${progress.step}_status`;
  return <Progress label={t(words)} done={progress?.done ?? 0} total={progress?.total ?? 0} />;
}
