import { Button, Notice } from "@relicario/shared/ui";
import { useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";

import { useHost } from "../context/host-context.ts";
import { NoticeBar } from "./OfflineNotice.tsx";

/**
 * Offers to reload when newer releases are in force. The page never reloads automatically, because
 * typed text would be lost.
 */
export function ReleaseNotice() {
  const { t } = useTranslation("header");
  const { deploymentWatch } = useHost();
  const { updateAvailable, expired } = useSyncExternalStore(deploymentWatch.subscribe, deploymentWatch.getState);
  const [isDismissed, setIsDismissed] = useState(false);
  if (!expired && (!updateAvailable || isDismissed)) return null;
  return (
    <NoticeBar>
      <Notice
        tone={expired ? "warn" : "info"}
        role="status"
        title={t(expired ? "release.expired_title" : "release.newer_title")}
        actions={
          <>
            <Button
              size="small"
              onClick={() => {
                window.location.reload();
              }}
            >
              {t("release.reload_action")}
            </Button>
            {!expired && (
              <Button
                size="small"
                tone="quiet"
                onClick={() => {
                  setIsDismissed(true);
                }}
              >
                {t("release.later_action")}
              </Button>
            )}
          </>
        }
      >
        {t(expired ? "release.expired_body" : "release.newer_body")}
      </Notice>
    </NoticeBar>
  );
}
