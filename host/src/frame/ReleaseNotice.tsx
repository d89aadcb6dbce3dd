import { Button, Notice } from "@relicario/shared/ui";
import { useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";

import { useHost } from "../host-context.ts";
import { Bar } from "./OfflineNotice.tsx";

/**
 * Offers to reload when newer releases are in force. The page never reloads by itself, since that
 * would lose what is typed.
 */
export function ReleaseNotice() {
  const { t } = useTranslation("header");
  const { watch } = useHost();
  const { newer, expired } = useSyncExternalStore(watch.subscribe, watch.getState);
  const [later, setLater] = useState(false);
  if (!expired && (!newer || later)) return null;
  return (
    <Bar>
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
                  setLater(true);
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
    </Bar>
  );
}
