import { usePortal, type RecoveredSecret } from "@relicario/shared/contract";
import { formatsOf } from "@relicario/shared/i18n";
import { Button, ErrorNotice, Muted, SpacedRow, Stack } from "@relicario/shared/ui";
import { Download } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { saveFile } from "./save-file.ts";

interface RevealedFileProps {
  readonly secret: RecoveredSecret;
}

type Saving = { readonly status: "idle" | "running" } | { readonly status: "failed"; readonly error: unknown };

/** A file is saved, never shown in place. */
export function RevealedFile({ secret }: RevealedFileProps) {
  const { t } = useTranslation("beta-recover");
  const { language } = usePortal();
  const [saving, setSaving] = useState<Saving>({ status: "idle" });

  const handleSave = async () => {
    setSaving({ status: "running" });
    try {
      const content = await secret.save(null);
      if (content !== null) saveFile(secret.name, content);
      setSaving({ status: "idle" });
    } catch (error) {
      setSaving({ status: "failed", error });
    }
  };
  return (
    <Stack $gap={4}>
      <Muted>{t("file.facts_body", { name: secret.name, size: formatsOf(language).size(secret.size) })}</Muted>
      <SpacedRow>
        <Button
          icon={<Download aria-hidden />}
          pending={saving.status === "running"}
          onClick={() => void handleSave()}
        >
          {t("file.download_action")}
        </Button>
      </SpacedRow>
      {saving.status === "failed" && <ErrorNotice error={saving.error} />}
    </Stack>
  );
}
