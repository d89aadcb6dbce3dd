import { Download } from "lucide-react";
import { useTranslation } from "react-i18next";

import { usePortal, type OpenedContent } from "../contract/index.ts";
import { getFormats } from "../i18n/index.ts";
import { Button } from "../ui/Button.tsx";
import { Muted, SpacedRow, Stack } from "../ui/layout.tsx";
import { ErrorNotice, Notice } from "../ui/notices.tsx";
import { OperationProgress } from "./OperationProgress.tsx";
import { useSaveFile } from "./useSaveFile.ts";

interface RevealedFileProps {
  readonly openedContent: Pick<OpenedContent, "name" | "size" | "content" | "save">;
}

/** A file is saved, never shown in place. */
export function RevealedFile({ openedContent }: RevealedFileProps) {
  const { t } = useTranslation("common");
  const { language } = usePortal();
  const { saving: saveState, save, cancel } = useSaveFile(openedContent);
  const isSaving = saveState.status === "running";
  return (
    <Stack $gap={4}>
      <Muted>
        {t("reveal.file_body", { name: openedContent.name, size: getFormats(language).size(openedContent.size) })}
      </Muted>
      {isSaving && <OperationProgress progress={saveState.progress} initialPhase="fetching" />}
      {saveState.status === "failed" && <ErrorNotice error={saveState.error} />}
      {saveState.status === "saved" && (
        <Notice tone="success" role="status">
          {t("reveal.saved_status")}
        </Notice>
      )}
      <SpacedRow>
        <Button icon={<Download aria-hidden />} pending={isSaving} onClick={() => void save()}>
          {t("reveal.save_action")}
        </Button>
        {isSaving && (
          <Button tone="quiet" onClick={cancel}>
            {t("reveal.cancel_action")}
          </Button>
        )}
      </SpacedRow>
    </Stack>
  );
}
