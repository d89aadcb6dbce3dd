import { usePortal } from "@relicario/shared/contract";
import { Button, Notice, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
import { CloudUpload } from "lucide-react";
import { useId } from "react";
import { useTranslation } from "react-i18next";

import type { Drive, DriveContentKind, DriveName } from "./drive.ts";
import { DriveStatus } from "./DriveStatus.tsx";
import { saveToDrive } from "./save-to-drive.ts";
import { useDriveOperation, useDrives } from "./useDriveOperation.ts";

interface SaveToDriveProps {
  readonly kind: DriveContentKind;
  readonly files: () => readonly File[];
  /** Whether to show why saving is not offered: the kit opens without a passphrase. */
  readonly blocked?: boolean;
  readonly onSaved?: (drive: DriveName) => void;
}

/** Saves files to a drive of the deployment; renders nothing without drives. */
export function SaveToDrive({ kind, files, blocked = false, onSaved }: SaveToDriveProps) {
  const { t } = useTranslation("provide-image");
  const { confirm } = usePortal();
  const drives = useDrives();
  const { operation, run, cancel } = useDriveOperation();
  const titleId = useId();
  if (drives.length === 0) return null;
  if (blocked) return <Notice title={t("drive.refused_title")}>{t("drive.refused_body")}</Notice>;

  const handleSave = (drive: Drive) => {
    const name = t(`drive.${drive.name}_name`);
    run(drive, async (options) => {
      const confirmSameDrive = () =>
        confirm({
          title: t("drive.beside_title", { drive: name }),
          description: t(kind === "kit" ? "drive.beside_kit_body" : "drive.beside_picture_body", { drive: name }),
          confirmLabel: t("drive.beside_action"),
          danger: true,
        });
      const saved = await saveToDrive(drive, kind, files(), { ...options, confirmSameDrive });
      if (saved) onSaved?.(drive.name);
      return saved;
    });
  };
  return (
    <Stack $gap={2} role="group" aria-labelledby={titleId}>
      <SmallText id={titleId}>{t("drive.save_title")}</SmallText>
      <SpacedRow>
        {drives.map((drive) => (
          <Button
            key={drive.name}
            tone="quiet"
            size="small"
            icon={<CloudUpload aria-hidden />}
            disabled={operation.status === "moving"}
            onClick={() => {
              handleSave(drive);
            }}
          >
            {t("drive.save_action", { drive: t(`drive.${drive.name}_name`) })}
          </Button>
        ))}
      </SpacedRow>
      <DriveStatus operation={operation} task="save" onCancel={cancel} />
    </Stack>
  );
}
