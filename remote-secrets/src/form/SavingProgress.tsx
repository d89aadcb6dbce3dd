import { usePortal } from "@relicario/shared/contract";
import { formatsOf } from "@relicario/shared/i18n";
import { Progress, SmallText, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import type { Saving } from "./useSaving.ts";

/** Sizes from here on are told in bytes beside the bar. */
const worthTelling = 1_000_000;

/** Where the saving is, phase by phase. */
export function SavingProgress({ saving }: { readonly saving: Saving }) {
  const { t } = useTranslation("beta-add-secret");
  const { language } = usePortal();
  if (saving.status !== "running") return null;
  const { progress, large } = saving;
  const { size } = formatsOf(language);
  const inBytes = progress !== null && (progress.phase === "sending" || progress.phase === "sealing") && progress.total >= worthTelling;
  return (
    <Stack $gap={2}>
      <Progress label={t(`progress.${progress?.phase ?? "starting"}_status`)} done={progress?.done ?? 0} total={progress?.total ?? 0} />
      {inBytes && <SmallText aria-hidden>{t("progress.bytes_body", { done: size(progress.done), total: size(progress.total) })}</SmallText>}
      {large && <SmallText>{t("progress.background_hint")}</SmallText>}
    </Stack>
  );
}
