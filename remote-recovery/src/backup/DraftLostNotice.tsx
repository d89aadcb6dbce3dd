import { Notice } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import type { DraftLossReason } from "./step-props.ts";

/** Says that what was chosen and typed is gone, why, and what to look at before doing it again. */
export function DraftLostNotice({ lossReason }: { readonly lossReason: DraftLossReason | null }) {
  const { t } = useTranslation("welcome");
  if (lossReason === null) return null;
  return (
    <Notice tone="warn" role="status" title={t(`lost.${lossReason}_title`)}>
      {t(`lost.${lossReason}_body`)}
    </Notice>
  );
}
