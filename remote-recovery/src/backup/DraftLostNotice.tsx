import { Notice } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import type { DraftLossReason } from "./step-props.ts";

/** Says that the draft was lost, why, and what to verify before starting again. */
export function DraftLostNotice({ lossReason }: { readonly lossReason: DraftLossReason | null }) {
  const { t } = useTranslation("welcome");
  if (lossReason === null) return null;
  return (
    <Notice tone="warn" role="status" title={t(`lost.${lossReason}_title`)}>
      {t(`lost.${lossReason}_body`)}
    </Notice>
  );
}
