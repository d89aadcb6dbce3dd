import { usePortal } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { Progress, SmallText, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import type { SaveState } from "./useSave.ts";

/** From this size on, progress is also shown in bytes. */
const minBytesShown = 1_000_000;

/** Progress of a running save, labelled with its phase. */
export function SaveProgress({ saveState }: { readonly saveState: SaveState }) {
  const { t } = useTranslation("beta-add-secret");
  const { language } = usePortal();
  if (saveState.status !== "running") return null;
  const { progress, large } = saveState;
  const { size } = getFormats(language);
  const showsBytes =
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
      {showsBytes && (
        <SmallText aria-hidden>
          {t("progress.bytes_body", { done: size(progress.done), total: size(progress.total) })}
        </SmallText>
      )}
      {large && <SmallText>{t("progress.background_hint")}</SmallText>}
    </Stack>
  );
}
