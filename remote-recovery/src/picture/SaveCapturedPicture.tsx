import { saveFile } from "@relicario/shared/forms";
import { Button, Notice, Stack } from "@relicario/shared/ui";
import { Download } from "lucide-react";
import { useTranslation } from "react-i18next";

import type { DriveName } from "../drives/drive.ts";
import { SaveToDrive } from "../drives/SaveToDrive.tsx";
import { markCapturedPictureSaved, type CapturedPicture } from "./captured-picture.ts";

interface SaveCapturedPictureProps {
  readonly capturedPicture: CapturedPicture;
  /** Called after the picture was handed to the browser or saved to a drive. */
  readonly onSaved?: () => void;
}

/** Asks to save a captured picture, which exists nowhere else. */
export function SaveCapturedPicture({
  capturedPicture: { picture, saved, lastSavedDrive },
  onSaved,
}: SaveCapturedPictureProps) {
  const { t } = useTranslation("provide-image");
  const title = !saved
    ? t("camera.keep_title")
    : lastSavedDrive === null
      ? t("camera.saved_title")
      : t("camera.saved_drive_title", { drive: t(`drive.${lastSavedDrive}_name`) });
  const handleSaved = (savedDrive: DriveName | null) => {
    markCapturedPictureSaved(picture, savedDrive);
    onSaved?.();
  };
  return (
    <Stack $gap={3}>
      <Notice
        tone={saved ? "success" : "warn"}
        role="status"
        title={title}
        actions={
          <Button
            tone="quiet"
            size="small"
            icon={<Download aria-hidden />}
            onClick={() => {
              saveFile(picture.name, picture);
              handleSaved(null);
            }}
          >
            {t(saved ? "camera.save_again_action" : "camera.save_action")}
          </Button>
        }
      >
        {t(saved ? "camera.saved_body" : "camera.keep_body")}
      </Notice>
      <SaveToDrive kind="picture" files={() => [picture]} onSaved={handleSaved} />
    </Stack>
  );
}
