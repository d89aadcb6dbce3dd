import { saveFile } from "@relicario/shared/forms";
import { Button, Notice } from "@relicario/shared/ui";
import { Download } from "lucide-react";
import { useTranslation } from "react-i18next";

interface KeepTakenProps {
  readonly picture: File;
}

/** A picture that was taken here exists nowhere else: asks to save it. */
export function KeepTaken({ picture }: KeepTakenProps) {
  const { t } = useTranslation("provide-image");
  return (
    <Notice
      tone="warn"
      title={t("camera.keep_title")}
      actions={
        <Button
          tone="quiet"
          size="small"
          icon={<Download aria-hidden />}
          onClick={() => {
            saveFile(picture.name, picture);
          }}
        >
          {t("camera.save_action")}
        </Button>
      }
    >
      {t("camera.keep_body")}
    </Notice>
  );
}
