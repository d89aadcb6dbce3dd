import { Download } from "lucide-react";
import { useTranslation } from "react-i18next";

import { usePortal, type OpenedContent } from "../contract/index.ts";
import { formatsOf } from "../i18n/index.ts";
import { Button } from "../ui/Button.tsx";
import { Muted, SpacedRow, Stack } from "../ui/layout.tsx";
import { ErrorNotice, Notice } from "../ui/notices.tsx";
import { ActProgress } from "./ActProgress.tsx";
import { useSaveFile } from "./useSaveFile.ts";

interface RevealedFileProps {
  readonly opened: Pick<OpenedContent, "name" | "size" | "content" | "save">;
}

/** A file is saved, never shown in place. */
export function RevealedFile({ opened }: RevealedFileProps) {
  const { t } = useTranslation("common");
  const { language } = usePortal();
  const { saving, save, cancel } = useSaveFile(opened);
  const running = saving.status === "running";
  return (
    <Stack $gap={4}>
      <Muted>{t("reveal.file_body", { name: opened.name, size: formatsOf(language).size(opened.size) })}</Muted>
      {running && <ActProgress progress={saving.progress} first="fetching" />}
      {saving.status === "failed" && <ErrorNotice error={saving.error} />}
      {saving.status === "saved" && (
        <Notice tone="success" role="status">
          {t("reveal.saved_status")}
        </Notice>
      )}
      <SpacedRow>
        <Button icon={<Download aria-hidden />} pending={running} onClick={() => void save()}>
          {t("reveal.save_action")}
        </Button>
        {running && (
          <Button tone="quiet" onClick={cancel}>
            {t("reveal.cancel_action")}
          </Button>
        )}
      </SpacedRow>
    </Stack>
  );
}
