import { usePortal, type RecoveredSecret } from "@relicario/shared/contract";
import { formatsOf } from "@relicario/shared/i18n";
import { Button, Muted, SpacedRow, Stack } from "@relicario/shared/ui";
import { Download } from "lucide-react";
import { useTranslation } from "react-i18next";

import { saveFile } from "./save-file.ts";

interface RevealedFileProps {
  readonly secret: RecoveredSecret;
}

/** A file is saved, never shown in place. */
export function RevealedFile({ secret }: RevealedFileProps) {
  const { t } = useTranslation("beta-recover");
  const { language } = usePortal();
  return (
    <Stack $gap={4}>
      <Muted>{t("file.facts_body", { name: secret.name, size: formatsOf(language).size(secret.content.length) })}</Muted>
      <SpacedRow>
        <Button
          icon={<Download aria-hidden />}
          onClick={() => {
            saveFile(secret.name, secret.content.slice());
          }}
        >
          {t("file.download_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}
