import { saveFile } from "@relicario/shared/forms";
import { Download } from "lucide-react";
import { useTranslation } from "react-i18next";

import { GuardedButton } from "../openers/GuardedButton.tsx";

interface DownloadButtonProps {
  /** File name. */
  readonly name: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** Saves an opened content as a file. */
export function DownloadButton({ name, content }: DownloadButtonProps) {
  const { t } = useTranslation("common");
  return (
    <GuardedButton
      tone="quiet"
      icon={<Download aria-hidden />}
      onClick={() => {
        saveFile(name, content.slice());
      }}
    >
      {t("reveal.download_action")}
    </GuardedButton>
  );
}
