import { saveFile } from "@relicario/shared/forms";
import { Button, Notice } from "@relicario/shared/ui";
import { Download } from "lucide-react";
import { useTranslation } from "react-i18next";

import { noteTakenSaved, type TakenPicture } from "./taken-picture.ts";

interface KeepTakenProps {
  readonly taken: TakenPicture;
  /** Called once it was handed to the browser. */
  readonly onSaved?: () => void;
}

/** A picture that was taken here exists nowhere else: asks to save it. */
export function KeepTaken({ taken: { picture, saved }, onSaved }: KeepTakenProps) {
  const { t } = useTranslation("provide-image");
  return (
    <Notice
      tone={saved ? "success" : "warn"}
      role="status"
      title={t(saved ? "camera.saved_title" : "camera.keep_title")}
      actions={
        <Button
          tone="quiet"
          size="small"
          icon={<Download aria-hidden />}
          onClick={() => {
            saveFile(picture.name, picture);
            noteTakenSaved(picture);
            onSaved?.();
          }}
        >
          {t(saved ? "camera.save_again_action" : "camera.save_action")}
        </Button>
      }
    >
      {t(saved ? "camera.saved_body" : "camera.keep_body")}
    </Notice>
  );
}
