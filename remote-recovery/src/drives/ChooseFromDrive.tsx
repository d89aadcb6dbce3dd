import { usePortal } from "@relicario/shared/contract";
import { Button, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
import { CloudDownload } from "lucide-react";
import { useId } from "react";
import { useTranslation } from "react-i18next";

import { markPictureOn } from "./drive-memory.ts";
import type { Drive } from "./drive.ts";
import { DriveStatus } from "./DriveStatus.tsx";
import { useDriveOperation, useDrives } from "./useDriveOperation.ts";

interface ChooseFromDriveProps {
  readonly disabled: boolean;
  readonly onChosen: (picture: File) => void;
}

/** Picks a picture from a drive of the deployment; renders nothing without drives. */
export function ChooseFromDrive({ disabled, onChosen }: ChooseFromDriveProps) {
  const { t } = useTranslation("provide-image");
  const { language } = usePortal();
  const drives = useDrives();
  const { operation, run, cancel } = useDriveOperation();
  const hintId = useId();
  if (drives.length === 0) return null;

  const handleChoose = (drive: Drive) => {
    run(drive, async ({ openWindow, ...options }) => {
      const picture = await drive.pickFile(openWindow, language, options);
      markPictureOn(drive.name);
      onChosen(picture);
      return true;
    });
  };
  return (
    <Stack $gap={2} role="group" aria-labelledby={hintId}>
      <SmallText id={hintId}>{t("drive.choose_hint")}</SmallText>
      <SpacedRow>
        {drives.map((drive) => (
          <Button
            key={drive.name}
            tone="quiet"
            size="small"
            icon={<CloudDownload aria-hidden />}
            disabled={disabled || operation.status === "moving"}
            onClick={() => {
              handleChoose(drive);
            }}
          >
            {t("drive.choose_action", { drive: t(`drive.${drive.name}_name`) })}
          </Button>
        ))}
      </SpacedRow>
      <DriveStatus operation={operation} task="choose" onCancel={cancel} />
    </Stack>
  );
}
