import { toPortalError } from "@relicario/shared/errors";
import { Button, Notice, Progress } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import type { DriveOperation } from "./useDriveOperation.ts";

interface DriveStatusProps {
  readonly operation: DriveOperation;
  readonly task: "save" | "choose";
  readonly onCancel: () => void;
}

export function DriveStatus({ operation, task, onCancel }: DriveStatusProps) {
  const { t } = useTranslation(["provide-image", "common"]);
  if (operation.status === "idle") return null;
  const drive = t(`drive.${operation.drive}_name`);
  switch (operation.status) {
    case "waiting":
      return (
        <Notice
          role="status"
          tone={operation.windowLost ? "warn" : "info"}
          actions={
            <Button tone="quiet" size="small" onClick={onCancel}>
              {t(operation.windowLost ? "common:dialog.close_action" : "drive.cancel_action")}
            </Button>
          }
        >
          {t(operation.windowLost ? "drive.closed_error" : "drive.waiting_status", { drive })}
        </Notice>
      );
    case "moving":
      return (
        <Progress
          label={t(task === "save" ? "drive.saving_status" : "drive.fetching_status", { drive })}
          done={operation.progress.done}
          total={operation.progress.total}
        />
      );
    case "failed":
      return (
        <Notice role="alert" tone={isSignedIn(operation.error) ? "info" : "danger"}>
          {t(`drive.${getFailureReason(operation.error)}_error`, { drive })}
        </Notice>
      );
    case "done":
      return task === "choose" ? null : (
        <Notice role="status" tone="success">
          {t("drive.saved_status", { drive })}
        </Notice>
      );
    default:
      return operation satisfies never;
  }
}

function isSignedIn(error: unknown): boolean {
  return getFailureReason(error) === "signed_in";
}

function getFailureReason(error: unknown) {
  switch (toPortalError(error).code) {
    case "popup_blocked":
      return "blocked";
    case "consent_required":
    case "forbidden":
      return "refused";
    case "login_required":
      return "again";
    case "interaction_required":
      return "signed_in";
    case "offline":
      return "offline";
    case "service_unavailable":
      return "unreachable";
    case "quota_exceeded":
      return "full";
    case "not_found":
      return "gone";
    case "payload_too_large":
      return "too_large";
    default:
      return "unexpected";
  }
}
