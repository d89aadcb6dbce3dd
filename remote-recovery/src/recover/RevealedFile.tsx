import { usePortal, type RecoveredSecret } from "@relicario/shared/contract";
import { formatsOf } from "@relicario/shared/i18n";
import { Button, ErrorNotice, Muted, Notice, Progress, SpacedRow, Stack } from "@relicario/shared/ui";
import { Download } from "lucide-react";
import { useTranslation } from "react-i18next";

import { useSaveFile } from "./useSaveFile.ts";

interface RevealedFileProps {
  readonly secret: RecoveredSecret;
}

/** A file is saved, never shown in place. */
export function RevealedFile({ secret }: RevealedFileProps) {
  const { t } = useTranslation(["beta-recover", "processing"]);
  const { language } = usePortal();
  const { saving, save, cancel } = useSaveFile(secret);
  const running = saving.status === "running";
  return (
    <Stack $gap={4}>
      <Muted>{t("file.facts_body", { name: secret.name, size: formatsOf(language).size(secret.size) })}</Muted>
      {running && <Progress label={t(`processing:phase.${saving.progress?.phase ?? "fetching"}_status`)} done={saving.progress?.done ?? 0} total={saving.progress?.total ?? 0} />}
      {saving.status === "failed" && <ErrorNotice error={saving.error} />}
      {saving.status === "saved" && (
        <Notice tone="success" role="status">
          {t("file.saved_status")}
        </Notice>
      )}
      <SpacedRow>
        <Button icon={<Download aria-hidden />} pending={running} onClick={() => void save()}>
          {t("file.download_action")}
        </Button>
        {running && (
          <Button tone="quiet" onClick={cancel}>
            {t("file.cancel_action")}
          </Button>
        )}
      </SpacedRow>
    </Stack>
  );
}
