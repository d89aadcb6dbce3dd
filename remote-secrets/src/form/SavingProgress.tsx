import { usePortal } from "@relicario/shared/contract";
import { formatsOf } from "@relicario/shared/i18n";
import { Progress, SmallText, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import type { Saving } from "./useSaving.ts";

/** From this size on, progress is also shown in bytes. */
const minBytesShown = 1_000_000;

/** Progress of a running save, labelled with its phase. */
export function SavingProgress({ saving }: { readonly saving: Saving }) {
  const { t } = useTranslation("beta-add-secret");
  const { language } = usePortal();
  if (saving.status !== "running") return null;
  const { progress, large } = saving;
  const { size } = formatsOf(language);
  const inBytes =
    progress !== null &&
    (progress.phase === "sending" || progress.phase === "sealing") &&
    progress.total >= minBytesShown;
  return (
    <Stack $gap={2}>
      <Progress
        label={t(`progress.${progress?.phase ?? "starting"}_status`)}
        done={progress?.done ?? 0}
        total={progress?.total ?? 0}
      />
      {inBytes && (
        <SmallText aria-hidden>
          {t("progress.bytes_body", { done: size(progress.done), total: size(progress.total) })}
        </SmallText>
      )}
      {large && <SmallText>{t("progress.background_hint")}</SmallText>}
    </Stack>
  );
}
