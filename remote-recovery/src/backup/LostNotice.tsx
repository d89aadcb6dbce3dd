import { Notice } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import type { Lost } from "./step-props.ts";

/** Says that what was chosen and typed is gone, why, and what to look at before doing it again. */
export function LostNotice({ lost }: { readonly lost: Lost | null }) {
  const { t } = useTranslation("welcome");
  if (lost === null) return null;
  return (
    <Notice tone="warn" role="status" title={t(`lost.${lost}_title`)}>
      {t(`lost.${lost}_body`)}
    </Notice>
  );
}
