import { Download } from "lucide-react";
import { useTranslation } from "react-i18next";

import { usePortal, type OpenedContent } from "../contract/index.ts";
import { getFormats } from "../i18n/index.ts";
import { markVerbatim } from "../contract/bidi-isolation.ts";
import { Button } from "../ui/Button.tsx";
import { Muted, SpacedRow, Stack } from "../ui/layout.tsx";
import { ErrorNotice, Notice } from "../ui/notices.tsx";
import { renderVerbatim } from "../ui/Verbatim.tsx";
import { OperationProgress } from "./operation/OperationProgress.tsx";
import { useSaveFile } from "./useSaveFile.ts";

interface RevealedFileProps {
  readonly openedContent: Pick<OpenedContent, "name" | "size" | "content" | "save">;
}

/** Offers to save a file. Never renders it. */
export function RevealedFile({ openedContent }: RevealedFileProps) {
  const { t } = useTranslation("common");
  const { language } = usePortal();
  const { operation, isSaved, start } = useSaveFile(openedContent);
  const { running, progress, error, cancel } = operation;
  return (
    <Stack $gap={4}>
      <Muted>
        {renderVerbatim(
          t("reveal.file_body", {
            name: markVerbatim(openedContent.name),
            size: getFormats(language).size(openedContent.size),
          }),
        )}
      </Muted>
      {running && <OperationProgress progress={progress} initialPhase="fetching" />}
      <ErrorNotice error={error} />
      {isSaved && (
        <Notice tone="success" role="status">
          {t("reveal.saved_status")}
        </Notice>
      )}
      <SpacedRow>
        <Button icon={<Download aria-hidden />} pending={running} onClick={start}>
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
