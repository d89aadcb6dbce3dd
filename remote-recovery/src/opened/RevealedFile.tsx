import { usePortal } from "@relicario/shared/contract";
import { OperationProgress } from "@relicario/shared/forms";
import { getFormats } from "@relicario/shared/i18n";
import {
  Button,
  ErrorNotice,
  markVerbatim,
  Muted,
  Notice,
  renderVerbatim,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { Download } from "lucide-react";
import { useTranslation } from "react-i18next";

import { GuardedButton } from "../openers/GuardedButton.tsx";
import { useSaveFile, type SaveContent } from "./useSaveFile.ts";

interface RevealedFileProps {
  /** File name. */
  readonly name: string;
  /** Bytes of the plain content. */
  readonly size: number;
  readonly save: SaveContent;
}

/** Offers to save a file. Never renders it. */
export function RevealedFile({ name, size, save }: RevealedFileProps) {
  const { t } = useTranslation("common");
  const { language } = usePortal();
  const { operation, isSaved, start } = useSaveFile(name, save);
  const { running, progress, error, cancel } = operation;
  return (
    <Stack $gap={4}>
      <Muted>
        {renderVerbatim(
          t("reveal.file_body", {
            name: markVerbatim(name),
            size: getFormats(language).size(size),
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
        <GuardedButton icon={<Download aria-hidden />} pending={running} onClick={start}>
          {t("reveal.save_action")}
        </GuardedButton>
        {running && (
          <Button tone="quiet" onClick={cancel}>
            {t("reveal.cancel_action")}
          </Button>
        )}
      </SpacedRow>
    </Stack>
  );
}
