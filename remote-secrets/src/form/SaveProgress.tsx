import { usePortal, type VaultProgress } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { Progress, SmallText, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

/** Minimum size in bytes from which on progress in bytes is shown. */
const minBytesShown = 1_000_000;

interface SaveProgressProps {
  /** Null before the first report. */
  readonly progress: VaultProgress | null;
  /** Whether the save continues after the form is left. */
  readonly inBackground: boolean;
}

export function SaveProgress({ progress, inBackground }: SaveProgressProps) {
  const { t } = useTranslation("beta-add-secret");
  const { language } = usePortal();
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
      {inBackground && <SmallText>{t("progress.background_hint")}</SmallText>}
    </Stack>
  );
}
